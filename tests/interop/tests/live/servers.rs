//! Which server a key lives on: both sides have to agree, on clusters of many sizes.

use mcpool::{Client, Ttl, interop};
use mcpool_interop_tests::cluster::{Cluster, Place, holders};
use mcpool_interop_tests::dice::{Dice, Letters};
use mcpool_interop_tests::peer::Peer;
use mcpool_interop_tests::value::Value;

use crate::case::Case;

/// Cluster sizes in the tests of placements.
const SIZES: [usize; 5] = [2, 3, 5, 8, 12];
/// Keys that each side stores on each cluster.
const KEYS: usize = 400;
/// The most weight that a server gets.
const HEAVIEST: usize = 10;

impl Case<'_> {
    /// Both sides store on clusters of many sizes, and each finds what the other stored, one by one and many at once.
    pub(crate) fn same_servers(&self) {
        let cluster = Cluster::start(SIZES[SIZES.len() - 1]);
        let mut dice = Dice::new(self.peer);
        let mut peer = Peer::start(self.peer);
        for size in SIZES {
            let servers = self.some_servers(&cluster, size, &mut dice);
            peer.open(&servers, self.options);
            let ours = self.ours(&servers);
            let keys = self.keys(&mut dice);
            let values = keys.iter().map(|key| (key.clone(), Value::Text(key.clone())));
            peer.set_all(&values.collect::<Vec<_>>());
            self.ours_finds(&ours, &keys, &servers);
            let keys = self.keys(&mut dice);
            let values = keys.iter().map(|key| (key, key));
            ours.set_many(values, Ttl::NEVER).into_result().expect("stored");
            self.peer_finds(&mut peer, &keys, &servers);
        }
    }

    /// Keys longer than memcached takes, which the peer shortens by a rule of its own.
    pub(crate) fn long_keys(&self) {
        let cluster = Cluster::start(3);
        let servers = cluster.places();
        let mut dice = Dice::new("long keys");
        let (ours, mut peer) = self.both(&servers);
        let lengths = (240..260).chain([500, 2000]);
        let keys: Vec<_> = lengths.map(|length| dice.text(self.letters, length)).collect();
        let values = keys.iter().map(|key| (key.clone(), Value::Text(key.clone())));
        peer.set_all(&values.collect::<Vec<_>>());
        let found = ours.get_many::<String, _>(&keys).into_result().expect("answers");
        let wrong = found.iter().filter(|(key, value)| value.as_ref() != Some(*key));
        self.assert_none(wrong.map(|(key, value)| format!("{key}: ours gets {value:?}")), &servers);
        for key in &keys {
            ours.set(key, &format!("ours {key}"), Ttl::NEVER).expect("stored");
        }
        let found = peer.get_all(&keys);
        let wrong = keys.iter().zip(found).filter(|(key, found)| {
            let text = Value::Text(format!("ours {key}"));
            !found.as_ref().is_some_and(|found| found.is(&text))
        });
        self.assert_none(wrong.map(|(key, v)| format!("{key}: the peer gets {v:?}")), &servers);
    }

    fn ours_finds(&self, ours: &Client, keys: &[String], servers: &[Place]) {
        let on_the_wire = |key: &String| format!("{}{key}", self.prefix);
        let holders = holders(servers, &keys.iter().map(on_the_wire).collect::<Vec<_>>());
        let wrong = keys.iter().filter_map(|key| {
            let held = holders.get(&on_the_wire(key)).map_or(&[][..], Vec::as_slice);
            let said = ours.server_for(key).expect("a good key");
            (held != [said.clone()]).then(|| format!("{key}: is on {held:?}, ours says {said}"))
        });
        self.assert_none(wrong, servers);
        self.explained(ours, keys, servers);
        let found = ours.get_many::<String, _>(keys).into_result().expect("answers");
        let wrong = found.iter().filter(|(key, value)| value.as_ref() != Some(*key));
        self.assert_none(wrong.map(|(key, value)| format!("{key}: ours gets {value:?}")), servers);
    }

    /// What is told of a preset by itself.
    fn explained(&self, ours: &Client, keys: &[String], servers: &[Place]) {
        if self.placement.is_some() || !self.prefix.is_empty() {
            return;
        }
        let preset = self.preset.parse().expect("a preset");
        let servers: Vec<_> = servers.iter().map(Place::text).collect();
        for key in &keys[..2] {
            let told = interop::explain(key, &servers[..]).expect("good servers");
            let said = ours.server_for(key).expect("a good key");
            let told = told.home(preset).and_then(interop::Home::server);
            assert_eq!(told, Some(&*said), "{preset} on {servers:?}: {key}");
        }
    }

    fn peer_finds(&self, peer: &mut Peer, keys: &[String], servers: &[Place]) {
        let is_there = |key: &String, found: Option<&Value>| {
            found.is_some_and(|value| value.is(&Value::Text(key.clone())))
        };
        let found = peer.get_all(keys);
        let wrong = keys.iter().zip(&found).filter(|(key, value)| !is_there(key, value.as_ref()));
        self.assert_none(wrong.map(|(key, v)| format!("{key}: the peer gets {v:?}")), servers);
        for keys in keys.chunks(100) {
            let found = peer.many(keys);
            let wrong = keys.iter().filter(|key| !is_there(key, found.get(*key)));
            self.assert_none(wrong.map(|key| format!("{key}: is not among many")), servers);
        }
    }

    /// What the peer computes for very many keys, without a word to a server.
    pub(crate) fn same_servers_for(&self, count: usize) {
        self.same_servers_by(&mut Peer::start(self.peer), count);
    }

    /// The same, by a peer that is there already.
    pub(crate) fn same_servers_by(&self, peer: &mut Peer, count: usize) {
        let mut dice = Dice::new("many keys");
        let servers: Vec<Place> = (0..7)
            .map(|at| {
                // The default port is left out of some rings.
                let port = if at % 3 == 0 { 11211 } else { dice.between(1, 65535) };
                let port = u16::try_from(port).expect("16 bits");
                let weight = self.weight(&mut dice);
                Place { weight, ..Place::new(([127, 0, 0, 1 + at], port).into()) }
            })
            .collect();
        peer.open(&servers, self.options);
        let ours = self.ours(&servers);
        let keys: Vec<_> = (0..count).map(|_| self.key(&mut dice)).collect();
        let wrong = keys.iter().zip(peer.servers_for(&keys)).filter_map(|(key, theirs)| {
            let mine = ours.server_for(key).expect("a good key");
            (mine != theirs).then(|| format!("{key}: the peer says {theirs}, ours {mine}"))
        });
        self.assert_none(wrong, &servers);
    }

    fn some_servers(&self, cluster: &Cluster, size: usize, dice: &mut Dice) -> Vec<Place> {
        let mut servers = dice.some(&cluster.places(), size);
        for server in &mut servers {
            server.weight = self.weight(dice);
            if let Some((host, name)) = self.host {
                server.host = host.to_owned();
                server.name = name(server.addr.port());
            }
        }
        servers
    }

    fn weight(&self, dice: &mut Dice) -> u32 {
        if !self.weighted {
            return 1;
        }
        u32::try_from(dice.between(1, HEAVIEST)).expect("small")
    }

    fn keys(&self, dice: &mut Dice) -> Vec<String> {
        let mut keys: Vec<_> = (0..KEYS).map(|_| self.key(dice)).collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// Up to 240 bytes, so that a prefix has room.
    fn key(&self, dice: &mut Dice) -> String {
        let longest = if self.letters == Letters::Ascii { 240 } else { 60 };
        let length = if dice.between(0, 3) == 0 { longest } else { 20 };
        let length = dice.between(4, length);
        dice.text(self.letters, length)
    }

    fn assert_none(&self, wrong: impl Iterator<Item = String>, servers: &[Place]) {
        let wrong: Vec<_> = wrong.collect();
        let shown = wrong.iter().take(5).map(|line| format!("\n  {line}")).collect::<String>();
        let Self { peer, options, .. } = self;
        let servers: Vec<_> = servers.iter().map(Place::text).collect();
        let count = wrong.len();
        assert!(count == 0, "{peer} {options:?} on {servers:?}: {count} keys are wrong{shown}");
    }
}
