//! Where in a pod spec an image is named.

use std::fmt;

/// The list of a pod spec that an image stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerList {
    /// `initContainers`
    InitContainers,
    /// `containers`
    Containers,
    /// `ephemeralContainers`
    EphemeralContainers,
    /// `volumes` (an image volume: `image.reference`)
    Volumes,
}

impl ContainerList {
    /// All of them, in the order in which a pod uses them.
    pub const ALL: [Self; 4] = [
        Self::InitContainers,
        Self::Containers,
        Self::EphemeralContainers,
        Self::Volumes,
    ];

    /// The field of the pod spec.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            Self::InitContainers => "initContainers",
            Self::Containers => "containers",
            Self::EphemeralContainers => "ephemeralContainers",
            Self::Volumes => "volumes",
        }
    }

    /// The fields from an item of the list to its image reference.
    #[must_use]
    pub fn image_path(self) -> &'static [&'static str] {
        match self {
            Self::Volumes => &["image", "reference"],
            Self::InitContainers | Self::Containers | Self::EphemeralContainers => &["image"],
        }
    }
}

/// A container or image volume of a pod spec, by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Container {
    /// The list that it stands in.
    pub list: ContainerList,
    /// Its name; empty where the manifest gives none.
    pub name: String,
}

impl fmt::Display for Container {
    /// `api`, `init:migrate`, `ephemeral:debug` or `volume:model`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.list {
            ContainerList::Containers => "",
            ContainerList::InitContainers => "init:",
            ContainerList::EphemeralContainers => "ephemeral:",
            ContainerList::Volumes => "volume:",
        };
        write!(f, "{prefix}{}", self.name)
    }
}
