"""For each reason code, the source in which its condition can be switched to false.

Each entry: file under src/policy, the text that stands there exactly once, and the text in its place,
where ON is the switch. With the switch on, the decision falls to the next row, or, where a row's condition
is what makes later ones possible at all, to what stands nearest.
"""

CONDITIONS = {
    "not-managed": [
        (
            "survey.rs",
            "let managed = self.profile.managed(reference.repository());",
            "let managed = self.profile.managed(reference.repository())\n"
            "            .or_else(|| ON.then(|| &self.profile.repositories[0]));",
        )
    ],
    "operator-pin": [("survey.rs", "Pin::Digest(_) => return", "Pin::Digest(_) if !ON => return")],
    "digest-malformed": [
        ("survey.rs", "Pin::Malformed(_) => return", "Pin::Malformed(_) if !ON => return"),
        # What two arms do not take any more.
        ("survey.rs", "Pin::None => {}", "_ => {}"),
    ],
    "hook": [("survey.rs", "if document.hook {", "if document.hook && !ON {")],
    "mirror": [
        (
            "survey.rs",
            "if !self.profile.is_watched(reference.repository(), managed)\n"
            "            || variable(&self.profile.refresher.registry).is_some_and(|host| !watches(host))",
            "if !ON && (!self.profile.is_watched(reference.repository(), managed)\n"
            "            || variable(&self.profile.refresher.registry).is_some_and(|host| !watches(host)))",
        )
    ],
    "refresh-absent": [
        (
            "survey.rs",
            "(Refreshing::Active, _) => None,",
            "(Refreshing::Active, _) => None,\n                _ if ON => None,",
        ),
        (
            "survey.rs",
            "if self.policy.refreshing == Refreshing::Inactive\n            || skips(",
            "if ON {\n        } else if self.policy.refreshing == Refreshing::Inactive\n            || skips(",
        ),
    ],
    "refresh-suspended": [("survey.rs", "if refresher.suspend && ", "if !ON && refresher.suspend && ")],
    "tag-changed": [
        ("survey.rs", "(reference.tag() != Some(tag)).then_some", "(!ON && reference.tag() != Some(tag)).then_some"),
        ("case.rs", "if refresher_tag.is_some() && ", "if !ON && refresher_tag.is_some() && "),
        ("case.rs", "            .unwrap_or(false);", "            .unwrap_or(false)\n            && !ON;"),
    ],
    "offline": [
        ("survey.rs", "if self.policy.source == Source::Nowhere {", "if !ON && self.policy.source == Source::Nowhere {")
    ],
    "record-unnamed": [
        (
            "survey.rs",
            "let Some(record) = self.releases.record(&release, refresher) else {",
            "let record = self.releases.record(&release, refresher);\n"
            "        let Some(record) = record.or_else(|| ON.then(ObjectKey::default)) else {",
        )
    ],
    "lookup-failed": [
        ("decide.rs", "match &facts.failure {", "match facts.failure.as_ref().filter(|_| !ON) {")
    ],
    "first-install": [
        (
            "case.rs",
            "        let record = facts\n            .object(&open.record)\n            .found()\n",
            "        let nothing = || ON.then(|| &*Box::leak(Box::<LiveObject>::default()));\n"
            "        let record = facts\n            .object(&open.record)\n            .found()\n"
            "            .or_else(nothing)\n",
        )
    ],
    "pinned": [
        ("case.rs", "            && live == Some(digest)\n", "            && live == Some(digest)\n            && !ON\n"),
        (
            "case.rs",
            "        let reason = match live {\n",
            "        match live {\n            None if ON => return (Reason::NoRecord, None),\n            _ => {}\n"
            "        }\n        let reason = match live {\n",
        ),
    ],
    "pinned-over-flap": [
        ("case.rs", "                && record.flap_detected()\n", "                && record.flap_detected()\n                && !ON\n")
    ],
    "pinned-live": [
        ("case.rs", "if self.live.others_own == Some(true) && ", "if !ON && self.live.others_own == Some(true) && "),
        (
            "case.rs",
            "        let without = |reason| match live {\n            Some(_) =>",
            "        let without = |reason| match live {\n            Some(_) if !ON =>",
        ),
        ("case.rs", "            None => (reason, None),", "            _ => (reason, None),"),
    ],
    "record-unmaintained": [("case.rs", "if !self.is_maintained(record) {", "if !ON && !self.is_maintained(record) {")],
    "no-record": [("case.rs", "Recorded::Nothing => without", "Recorded::Nothing if !ON => without")],
    "record-invalid": [
        (
            "case.rs",
            "Recorded::Invalid(_) => without(Reason::RecordInvalid), // row 16",
            "Recorded::Invalid(_) if !ON => without(Reason::RecordInvalid),\n"
            "                _ => without(Reason::ObservedOnly),",
        )
    ],
    "observed-only": [("case.rs", "if !applied {", "if !ON && !applied {")],
    "pinned-over-rollback": [
        ("case.rs", "Some(_) => Reason::PinnedOverRollback,", "Some(_) if !ON => Reason::PinnedOverRollback,"),
        ("case.rs", "None => Reason::Pinned, ", "_ => Reason::Pinned, "),
    ],
    "kept-live": [
        ("kept.rs", "Some(false) => {}", "Some(false) => {}\n            Some(true) if ON => {}"),
    ],
    "nothing-to-keep": [
        ("kept.rs", "_ if is_rendered => {}", "_ if is_rendered && !ON => {}"),
        (
            "kept.rs",
            "live.others_own {",
            "live.others_own.map(|others| others || ON) {",
        ),
    ],
    "not-editable": [
        (
            "decision.rs",
            "        self.reason = Reason::NotEditable;",
            "        if ON {\n            return;\n        }\n        self.reason = Reason::NotEditable;",
        )
    ],
}

# A reason whose outcome is already `left` is refused instead: that its outcome counts is shown by the change.
OUTCOMES = [
    (
        "decide.rs",
        "        verdict.decisions.sort_by_key(|decision| decision.site);",
        "        for decision in &mut verdict.decisions {\n"
        "            decision.mutate();\n"
        "        }\n"
        "        verdict.decisions.sort_by_key(|decision| decision.site);",
    ),
    (
        "decision.rs",
        '        self.warnings = vec![format!("the image cannot be rewritten: {why}")];\n',
        '        self.warnings = vec![format!("the image cannot be rewritten: {why}")];\n'
        "        self.mutate();\n",
    ),
    (
        "decision.rs",
        "impl Decision {\n",
        "impl Decision {\n"
        "    pub(super) fn mutate(&mut self) {\n"
        '        if crate::switch::on(&format!("reason:{} outcome", self.reason)) {\n'
        "            self.outcome = match self.outcome {\n"
        "                Outcome::Left => Outcome::Refused,\n"
        "                _ => Outcome::Left,\n"
        "            };\n"
        "        }\n"
        "    }\n",
    ),
]


def switches(codes):
    """The names of all switches that `plant` plants."""
    for code in codes:
        yield f"reason:{code} outcome"
        for number, (_, _, new) in enumerate(CONDITIONS[code], 1):
            if "ON" in new.replace("ON_", ""):
                yield f"reason:{code} condition {number}"


def plant(policy):
    """Writes the switches into the files of the folder `policy`."""
    patches = list(OUTCOMES)
    for code, places in CONDITIONS.items():
        for number, (file, old, new) in enumerate(places, 1):
            on = f'crate::switch::on("reason:{code} condition {number}")'
            patches.append((file, old, new.replace("ON", on)))
    for file, old, new in patches:
        path = policy / file
        text = path.read_text()
        if text.count(old) != 1:
            raise SystemExit(f"scripts/mutants.d/reasons.py: {file} has this {text.count(old)} times:\n{old}")
        path.write_text(text.replace(old, new))
