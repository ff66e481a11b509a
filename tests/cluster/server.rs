//! [`FaultyApiServer`], a fake that does what networks, proxies and overloaded API servers do.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::run::LONG;

/// A request as the fake saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
}

/// What the fake does with a connection after it has read a request.
#[derive(Clone)]
pub(crate) enum Act {
    /// Answers.
    Answer {
        status: u16,
        headers: &'static [(&'static str, &'static str)],
        body: Vec<u8>,
    },
    /// Sends these bytes, then closes.
    Cut(Vec<u8>),
    /// Sends these bytes, then keeps silent.
    Stall(Vec<u8>),
    /// Sends these bytes, then the last of them again, one at a time, as long as somebody listens.
    Drip(Vec<u8>),
    /// Sends these bytes, then blanks as fast as it can, as long as somebody listens.
    Flood(Vec<u8>),
}

impl Act {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Answer {
            status,
            headers: &[("Content-Type", "application/json")],
            body: body.to_string().into_bytes(),
        }
    }

    pub(crate) fn html(status: u16) -> Self {
        Self::Answer {
            status,
            headers: &[("Content-Type", "text/html")],
            body: b"<html>Please log in</html>".to_vec(),
        }
    }

    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
            "reason": reason, "message": message, "code": code});
        Self::json(code, &status)
    }

    pub(crate) fn not_found() -> Self {
        Self::status(404, "NotFound", "not found")
    }
}

/// A fake API server over HTTP: `act` decides by the request and by how many came before it.
pub(crate) struct FaultyApiServer {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl FaultyApiServer {
    pub(crate) fn start(act: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static) -> Self {
        Self::start_by(act, Some)
    }

    /// With a certificate.
    pub(crate) fn start_tls(
        tls: Arc<rustls::ServerConfig>,
        act: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static,
    ) -> Self {
        Self::start_by(act, move |stream| {
            let connection = rustls::ServerConnection::new(Arc::clone(&tls)).ok()?;
            Some(rustls::StreamOwned::new(connection, stream))
        })
    }

    fn start_by<S: Read + Write>(
        act: impl Fn(&Seen, usize) -> Act + Send + Sync + 'static,
        open: impl Fn(TcpStream) -> Option<S> + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let act = Arc::new(act);
        let requests = Arc::clone(&seen);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let (act, requests) = (Arc::clone(&act), Arc::clone(&requests));
                let open = open.clone();
                thread::spawn(move || {
                    if let Some(stream) = open(connection.unwrap()) {
                        serve(stream, &*act, &requests);
                    }
                });
            }
        });
        Self { port, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

pub(crate) fn serve(
    mut connection: impl Read + Write,
    act: &(dyn Fn(&Seen, usize) -> Act + Send + Sync),
    requests: &Mutex<Vec<Seen>>,
) {
    let mut lines = BufReader::new(&mut connection).lines();
    let Some(Ok(first)) = lines.next() else {
        return;
    };
    let headers = lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty());
    let headers = headers.filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        Some((name.to_ascii_lowercase(), value.to_owned()))
    });
    let request = Seen {
        path: first.split(' ').nth(1).unwrap().to_owned(),
        headers: headers.collect(),
    };
    let before = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    // The client may be gone already: its time was up.
    let _: std::io::Result<()> = match act(&request, before) {
        Act::Answer {
            status,
            headers,
            body,
        } => {
            let length = body.len();
            let mut head =
                format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n");
            for (name, value) in headers {
                head += &format!("{name}: {value}\r\n");
            }
            head += "\r\n";
            connection
                .write_all(head.as_bytes())
                .and_then(|()| connection.write_all(&body))
        }
        Act::Cut(bytes) => connection.write_all(&bytes),
        Act::Stall(bytes) => {
            let sent = connection.write_all(&bytes);
            thread::sleep(LONG);
            sent
        }
        Act::Drip(bytes) => connection.write_all(&bytes).and_then(|()| {
            loop {
                thread::sleep(Duration::from_millis(20));
                connection.write_all(&bytes[bytes.len() - 1..])?;
            }
        }),
        Act::Flood(bytes) => connection.write_all(&bytes).and_then(|()| {
            let blanks = vec![b' '; 1 << 20];
            loop {
                connection.write_all(&blanks)?;
            }
        }),
    };
}

/// A port where nobody listens.
pub(crate) fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
