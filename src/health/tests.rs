//! Tests: every way from one state to another, on a made-up clock.

use std::time::Duration;

use super::*;

const RULES: fn() -> Rules = || Rules {
    down_after: DownAfter::default(),
    back_off: BackOff::default(),
    failback: true,
    lone: false,
};

/// A node and a clock that moves when told to.
struct Bench {
    health: Health,
    now: Instant,
}

impl Bench {
    fn new(rules: Rules) -> Self {
        Self { health: Health::new(rules, 1), now: Instant::now() }
    }

    fn down(rules: Rules) -> Self {
        let bench = Self::new(rules);
        for _ in 0..3 {
            bench.fail();
        }
        assert!(!bench.health.is_up());
        bench
    }

    fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    fn fail(&self) -> Option<Transition> {
        self.health.failed(self.now, Failure::Dial)
    }

    fn state(&self) -> NodeState {
        self.health.state(self.now)
    }

    fn probe(&self) -> Gate {
        self.health.gate(self.now, true)
    }

    /// Milliseconds until a probe is due.
    fn wait(&self) -> u128 {
        (self.health.next_probe().expect("it is down") - self.now).as_millis()
    }

    fn go_to_probe(&mut self) {
        self.now = self.health.next_probe().expect("it is down");
        assert_eq!(self.probe(), Gate::Probe);
    }
}

#[test]
fn a_new_node_is_up() {
    let bench = Bench::new(RULES());
    assert!(bench.health.is_up());
    assert_eq!((bench.state(), bench.probe()), (NodeState::Up, Gate::Up));
    assert_eq!((bench.health.next_probe(), bench.health.succeeded()), (None, None));
}

#[test]
fn a_failure_makes_it_suspect_but_still_used_and_a_success_forgets_it() {
    let bench = Bench::new(RULES());
    assert_eq!(bench.fail(), None);
    assert_eq!(bench.fail(), None);
    assert!(bench.health.is_up());
    assert_eq!((bench.state(), bench.probe()), (NodeState::Suspect, Gate::Up));
    assert_eq!(bench.health.succeeded(), None);
    assert_eq!(bench.state(), NodeState::Up);
    // The count begins anew.
    assert_eq!((bench.fail(), bench.fail()), (None, None));
    assert!(bench.health.is_up());
}

#[test]
fn three_failures_within_ten_seconds_take_it_down() {
    let mut bench = Bench::new(RULES());
    bench.fail();
    bench.pass(5_000);
    bench.health.failed(bench.now, Failure::Silence);
    bench.pass(5_000);
    let went = bench.health.failed(bench.now, Failure::Silence);
    let until = bench.health.next_probe();
    assert!(until.is_some());
    assert_eq!(went, Some(Transition::WentDown { until, failure: Failure::Silence }));
    assert!(!bench.health.is_up());
    assert_eq!((bench.state(), bench.probe()), (NodeState::Down, Gate::Down { until }));
}

#[test]
fn failures_further_apart_do_not() {
    let mut bench = Bench::new(RULES());
    for _ in 0..20 {
        assert_eq!(bench.fail(), None);
        bench.pass(5_001);
    }
    assert!(bench.health.is_up());
    assert_eq!(bench.state(), NodeState::Suspect);
    bench.pass(5_000);
    assert_eq!(bench.state(), NodeState::Up, "what is long past makes nobody suspect");
}

#[test]
fn the_window_slides_and_does_not_start_over() {
    let mut bench = Bench::new(RULES());
    for (ms, down) in [(0, false), (9_000, false), (2_000, false), (7_000, true)] {
        bench.pass(ms);
        assert_eq!(bench.fail().is_some(), down, "after {ms} ms");
    }
}

#[test]
fn the_number_and_the_time_can_be_set() {
    let down_after = DownAfter::new(1, Duration::ZERO);
    let bench = Bench::new(Rules { down_after, ..RULES() });
    assert!(bench.fail().is_some());

    let down_after = DownAfter::new(2, Duration::from_secs(1));
    let mut bench = Bench::new(Rules { down_after, ..RULES() });
    bench.fail();
    bench.pass(1_001);
    assert_eq!(bench.fail(), None);
    bench.pass(1_000);
    assert!(bench.fail().is_some());
}

#[test]
fn once_the_back_off_is_over_exactly_one_may_probe() {
    let mut bench = Bench::down(RULES());
    let until = bench.health.next_probe();
    assert!((160..=240).contains(&bench.wait()));
    bench.pass(159);
    assert_eq!(bench.probe(), Gate::Down { until });
    bench.go_to_probe();
    for _ in 0..10 {
        assert!(matches!(bench.probe(), Gate::Down { until: Some(until) } if until > bench.now));
    }
    assert_eq!(bench.state(), NodeState::Down);
}

#[test]
fn a_caller_that_may_not_probe_never_does() {
    let mut bench = Bench::down(RULES());
    let until = bench.health.next_probe();
    bench.pass(60_000);
    assert_eq!(bench.health.gate(bench.now, false), Gate::Down { until });
    assert_eq!(bench.probe(), Gate::Probe, "and takes it from nobody");
}

#[test]
fn a_probe_that_succeeds_brings_it_up_with_all_forgotten() {
    let mut bench = Bench::down(RULES());
    bench.go_to_probe();
    bench.fail();
    bench.go_to_probe();
    assert_eq!(bench.health.succeeded(), Some(Transition::CameUp));
    assert_eq!((bench.state(), bench.probe()), (NodeState::Up, Gate::Up));
    assert_eq!(bench.health.succeeded(), None, "it comes up once");
    // Three new failures are needed, and the back-off is the first again.
    assert_eq!((bench.fail(), bench.fail()), (None, None));
    assert!(bench.fail().is_some());
    assert!((160..=240).contains(&bench.wait()));
}

#[test]
fn each_probe_that_fails_doubles_the_back_off_up_to_the_longest() {
    let mut bench = Bench::down(RULES());
    for about in [400, 800, 1600, 2000, 2000] {
        bench.go_to_probe();
        assert_eq!(bench.fail(), None, "it was down before");
        let range = about * 4 / 5..=(about * 6 / 5).min(2000);
        assert!(range.contains(&bench.wait()), "{} for {about}", bench.wait());
        assert!(matches!(bench.probe(), Gate::Down { .. }));
    }
}

#[test]
fn a_prober_that_never_reports_is_replaced() {
    let mut bench = Bench::down(RULES());
    bench.go_to_probe();
    assert_eq!(bench.wait(), 2000);
    bench.go_to_probe();
    // The report of the first, late, still tells.
    assert_eq!(bench.health.succeeded(), Some(Transition::CameUp));
}

#[test]
fn late_failures_of_earlier_calls_do_not_prolong_it() {
    let bench = Bench::down(RULES());
    let due = bench.health.next_probe();
    for _ in 0..10 {
        assert_eq!(bench.health.failed(bench.now, Failure::Silence), None);
    }
    assert_eq!(bench.health.next_probe(), due);
}

#[test]
fn an_answer_to_an_earlier_call_brings_it_up_early() {
    let bench = Bench::down(RULES());
    assert_eq!(bench.health.succeeded(), Some(Transition::CameUp));
    assert!(bench.health.is_up());
}

#[test]
fn without_failback_it_is_out_until_restored() {
    let mut bench = Bench::new(Rules { failback: false, ..RULES() });
    bench.fail();
    bench.fail();
    let out = Transition::WentDown { until: None, failure: Failure::Dial };
    assert_eq!(bench.fail(), Some(out));
    bench.pass(3_600_000);
    assert_eq!((bench.state(), bench.probe()), (NodeState::Out, Gate::Down { until: None }));
    assert_eq!((bench.health.succeeded(), bench.fail()), (None, None));
    assert_eq!((bench.state(), bench.health.next_probe()), (NodeState::Out, None));

    assert_eq!(bench.health.restore(), Some(Transition::CameUp));
    assert!(bench.health.is_up());
    assert_eq!((bench.state(), bench.probe()), (NodeState::Up, Gate::Up));
    assert_eq!((bench.fail(), bench.fail()), (None, None));
    assert_eq!(bench.fail(), Some(out), "and can go out again");
}

#[test]
fn restoring_ends_a_back_off_and_does_nothing_to_a_node_in_use() {
    let bench = Bench::down(RULES());
    assert_eq!(bench.health.restore(), Some(Transition::CameUp));
    assert_eq!(bench.state(), NodeState::Up);

    bench.fail();
    assert_eq!(bench.health.restore(), None);
    assert_eq!(bench.state(), NodeState::Suspect);
}

#[test]
fn a_lone_server_is_probed_within_half_a_second_and_is_never_out() {
    let mut bench = Bench::down(Rules { failback: false, lone: true, ..RULES() });
    for _ in 0..6 {
        assert!(bench.wait() <= 500, "{}", bench.wait());
        assert_eq!(bench.state(), NodeState::Down);
        bench.go_to_probe();
        assert!(bench.wait() <= 500, "also when nothing is heard of it: {}", bench.wait());
        bench.fail();
    }
    assert!(bench.wait() >= 400);
    bench.go_to_probe();
    assert_eq!(bench.health.succeeded(), Some(Transition::CameUp));

    let back_off = BackOff::new(Duration::from_secs(60), Duration::from_secs(60));
    assert!(Bench::down(Rules { back_off, lone: true, ..RULES() }).wait() <= 500);
}

#[test]
fn extreme_settings_are_no_trouble() {
    let back_off = BackOff::new(Duration::MAX, Duration::MAX);
    let down_after = DownAfter::new(3, Duration::MAX);
    let bench = Bench::down(Rules { back_off, down_after, ..RULES() });
    assert!(bench.wait() > 1_000_000);

    let mut bench =
        Bench::down(Rules { back_off: BackOff::new(Duration::ZERO, Duration::ZERO), ..RULES() });
    bench.go_to_probe();
    bench.fail();
    assert_eq!(bench.wait(), 0);
}

#[test]
fn of_many_threads_one_probes() {
    let mut bench = Bench::down(RULES());
    bench.pass(300);
    let (health, now) = (&bench.health, bench.now);
    let probes = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| health.gate(now, true))).collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .filter(|gate| *gate == Gate::Probe)
            .count()
    });
    assert_eq!(probes, 1);
}
