//! Three real servers, two of them behind proxies, and what is done to them.

use std::time::{Duration, Instant};

use mcpool::testing::{Dice, Proxy, Weather};

use crate::support::memcached::Memcached;

/// One spell of trouble lasts this long.
const SPELL: Duration = Duration::from_millis(250);

pub(crate) struct World {
    servers: Vec<Memcached>,
    proxies: Vec<Proxy>,
    dice: Dice,
    pub(crate) kills: u32,
    pub(crate) pauses: u32,
}

impl World {
    pub(crate) fn start(seed: u64) -> Self {
        let servers: Vec<_> = (0..3).map(|_| Memcached::start()).collect();
        let proxies = (0_u64..).zip(&servers[..2]);
        let proxies = proxies.map(|(n, s)| Proxy::start(s.addr(), seed ^ n).expect("a proxy"));
        Self { proxies: proxies.collect(), servers, dice: Dice::new(seed), kills: 0, pauses: 0 }
    }

    /// Two servers by their proxies, the third itself, so that its death is a refused connect.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let proxies = self.proxies.iter().map(Proxy::address);
        proxies.chain([self.servers[2].address()]).collect()
    }

    pub(crate) fn injected(&self) -> u64 {
        self.proxies.iter().map(Proxy::injected).sum()
    }

    /// Spell after spell, each with its own weather, and now and then a process stopped or killed.
    pub(crate) fn trouble(&mut self, length: Duration) {
        let started = Instant::now();
        while started.elapsed() < length {
            for proxy in &self.proxies {
                proxy.weather(weather(&mut self.dice));
            }
            let victim = self.dice.below(3);
            match self.dice.below(8) {
                0 => {
                    self.servers[victim].kill();
                    rest(self.dice.within(&(ms(0)..ms(400))));
                    self.servers[victim].restart_on_same_port();
                    self.kills += 1;
                }
                1 => {
                    self.servers[victim].restart_on_same_port();
                    self.kills += 1;
                }
                2 => {
                    self.servers[victim].pause();
                    rest(self.dice.within(&(ms(100)..ms(1000))));
                    self.servers[victim].resume();
                    self.pauses += 1;
                }
                _ => rest(SPELL),
            }
        }
    }

    pub(crate) fn calm(&mut self) {
        for proxy in &self.proxies {
            proxy.weather(Weather::calm());
        }
    }
}

/// Trouble takes its time; nothing waits for the end of this.
fn rest(time: Duration) {
    std::thread::sleep(time);
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn weather(dice: &mut Dice) -> Weather {
    let mut weather = Weather::calm();
    if dice.roll(0.25) {
        return weather;
    }
    // Up to two in a hundred segments, in so many of the spells.
    let chance =
        |dice: &mut Dice, of: f64| if dice.roll(of) { dice.below(20) as f64 / 1000.0 } else { 0.0 };
    weather.cut = chance(dice, 0.4);
    weather.reset = chance(dice, 0.3);
    weather.swallow = chance(dice, 0.15) / 4.0;
    weather.half_close = chance(dice, 0.2);
    weather.turn_away = chance(dice, 0.2) * 10.0;
    weather.freeze = chance(dice, 0.2) / 4.0;
    weather.freeze_time = dice.within(&(ms(0)..ms(800)));
    weather.split = dice.below(100) as f64 / 100.0;
    if dice.roll(0.4) {
        weather.delay = Duration::ZERO..dice.within(&(ms(1)..ms(41)));
    }
    weather.requests = dice.roll(0.7);
    weather.replies = dice.roll(0.7) || !weather.requests;
    weather
}
