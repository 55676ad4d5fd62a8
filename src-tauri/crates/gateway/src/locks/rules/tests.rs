//! Each test is a conversation: what happens, at which second, and what the room does then.

use super::*;

const SECOND: i64 = 1000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(100 * SECOND + seconds * SECOND)
}

fn executor(name: &str) -> ExecutorRef {
    ExecutorRef { group: "g".into(), name: name.into(), boot: format!("boot of {name}") }
}

fn task(n: u128) -> AttemptRef {
    let task = format!("{:032x}", n).parse().expect("a task id");
    AttemptRef { task, attempt: 1 }
}

fn id(name: &str, attempt: AttemptRef, number: u64) -> AskId {
    AskId { executor: executor(name), attempt, number }
}

/// `lock` of task 1, as ask 1.
fn ask(names: &[&str]) -> v1::AskLocks {
    v1::AskLocks {
        ask: 1,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        wait_ms: 5_000,
        ..v1::AskLocks::default()
    }
}

fn names(names: &[&str]) -> Vec<LockName> {
    names.iter().map(|name| LockName::new(*name).expect("a good name")).collect()
}

fn tokens(names: &[(&str, u64)]) -> Vec<(LockName, u64)> {
    names.iter().map(|(name, token)| (LockName::new(*name).expect("a good name"), *token)).collect()
}

/// One deed as a line.
fn told(deed: &Deed) -> String {
    let list = |names: &[LockName]| names.iter().map(LockName::as_str).collect::<Vec<_>>().join(" ");
    match deed {
        Deed::Take(id, names, wish) => format!("take {} for {} within {:?}", list(names), id.number, wish.patience),
        Deed::Adopt(id, held, _) => {
            format!(
                "go on with {} for {}",
                held.iter().map(|(name, token)| format!("{name}:{token}")).collect::<Vec<_>>().join(" "),
                id.number
            )
        }
        Deed::Stop(id) => format!("stop {} of {}", id.number, id.executor.name),
        Deed::Tell(session, message) => {
            use v1::to_executor::Message;
            let what = match message.message.as_ref().expect("a message") {
                Message::LocksGranted(granted) => {
                    let locks: Vec<String> =
                        granted.locks.iter().map(|held| format!("{}:{}", held.name, held.token)).collect();
                    let left = granted.left_ms.map(|left| format!(" for {left} ms")).unwrap_or_default();
                    format!("granted {} {}{left}", granted.ask, locks.join(" "))
                }
                Message::LocksRefused(refused) => {
                    format!("refused {} {}", refused.ask, refused.why.as_ref().expect("a reason").code)
                }
                Message::LocksLost(lost) => format!("lost {} {}", lost.ask, lost.names.join(" ")),
                Message::LocksLeft(left) => format!("left {}", left.ask),
                other => panic!("{other:?}"),
            };
            format!("tell {session}: {what}")
        }
    }
}

/// Does all of it, one after the other, and compares what the room does each time.
fn check(room: &mut Room, steps: Vec<(i64, Event, &[&str])>) {
    for (n, (second, event, expected)) in steps.into_iter().enumerate() {
        let seen = format!("{event:?}");
        let deeds: Vec<String> = room.on(event, at(second)).iter().map(told).collect();
        assert_eq!(deeds, expected, "step {n}: {seen}");
    }
}

/// Executor `a` in session 1, which runs task 1.
fn one_visitor() -> Room {
    let mut room = Room::default();
    check(
        &mut room,
        vec![
            (0, Event::Registers(1, executor("a")), &[]),
            (0, Event::Welcomed(1, vec![]), &[]),
            (0, Event::Pushed(1, task(1)), &[]),
        ],
    );
    room
}

fn holding(token: u64) -> Room {
    let mut room = one_visitor();
    check(
        &mut room,
        vec![
            (0, Event::Asks(1, task(1), ask(&["x"])), &["take x for 1 within 5s"]),
            (0, Event::Took(id("a", task(1), 1), tokens(&[("x", token)]), at(30)), &["tell 1: granted 1 x:7"]),
        ],
    );
    room
}

const ID: fn() -> AskId = || id("a", task(1), 1);

#[test]
fn what_is_asked_is_taken_told_and_left() {
    check(
        &mut holding(7),
        vec![
            (1, Event::Lets(1, task(1), 1), &["stop 1 of a"]),
            (1, Event::Lets(1, task(1), 1), &[]),
            (1, Event::Ended(ID()), &["tell 1: left 1"]),
            // Again: it is left already.
            (2, Event::Lets(1, task(1), 1), &["tell 1: left 1"]),
        ],
    );
}

#[test]
fn a_refusal_of_the_table_is_told() {
    check(
        &mut one_visitor(),
        vec![
            (0, Event::Asks(1, task(1), ask(&["x"])), &["take x for 1 within 5s"]),
            (5, Event::Failed(ID(), Code::LockHeld.fault()), &["tell 1: refused 1 k_sc_ec_300071"]),
            (5, Event::Asks(1, task(1), ask(&["x"])), &["take x for 1 within 5s"]),
        ],
    );
}

#[test]
fn asking_twice_is_asking_once() {
    check(&mut holding(7), vec![(1, Event::Asks(1, task(1), ask(&["x"])), &["tell 1: granted 1 x:7"])]);
    check(
        &mut one_visitor(),
        vec![
            (0, Event::Asks(1, task(1), ask(&["x"])), &["take x for 1 within 5s"]),
            (1, Event::Asks(1, task(1), ask(&["x"])), &[]),
        ],
    );
}

#[test]
fn only_who_runs_the_attempt_may_ask() {
    let mut room = one_visitor();
    check(
        &mut room,
        vec![
            (0, Event::Asks(1, task(2), ask(&["x"])), &["tell 1: refused 1 k_sc_ec_300074"]),
            (0, Event::Registers(2, executor("b")), &[]),
            // Not admitted yet.
            (0, Event::Asks(2, task(1), ask(&["x"])), &["tell 2: refused 1 k_sc_ec_300074"]),
            (0, Event::Welcomed(2, vec![]), &[]),
            (0, Event::Asks(2, task(1), ask(&["x"])), &["tell 2: refused 1 k_sc_ec_300074"]),
            (0, Event::Over(1, task(1)), &[]),
            (0, Event::Asks(1, task(1), ask(&["x"])), &["tell 1: refused 1 k_sc_ec_300074"]),
            (0, Event::Asks(9, task(1), ask(&["x"])), &[]),
        ],
    );
}

#[test]
fn asks_that_make_no_sense_are_refused_with_a_reason() {
    let long = "x".repeat(201);
    let many: Vec<String> = (0..33).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (asked, code) in [
        (ask(&[""]), Code::LockNameRefused),
        (ask(&["a\nb"]), Code::LockNameRefused),
        (ask(&[&long]), Code::LockNameRefused),
        (ask(&[]), Code::TooManyLocks),
        (ask(&many), Code::TooManyLocks),
    ] {
        let answer = format!("tell 1: refused 1 {code}");
        check(&mut one_visitor(), vec![(0, Event::Asks(1, task(1), asked), &[answer.as_str()])]);
    }
}

#[test]
fn an_attempt_has_so_many_asks_open_and_no_more() {
    let mut room = one_visitor();
    let numbered = |number| v1::AskLocks { ask: number, ..ask(&["x"]) };
    for number in 1..=100 {
        assert!(matches!(room.on(Event::Asks(1, task(1), numbered(number)), at(0)).as_slice(), [Deed::Take(..)]));
    }
    check(
        &mut room,
        vec![
            (0, Event::Asks(1, task(1), numbered(101)), &["tell 1: refused 101 k_sc_ec_300073"]),
            (0, Event::Failed(id("a", task(1), 3), Code::LockHeld.fault()), &["tell 1: refused 3 k_sc_ec_300071"]),
            (0, Event::Asks(1, task(1), numbered(101)), &["take x for 101 within 5s"]),
        ],
    );
    for n in 2..=10 {
        room.on(Event::Pushed(1, task(n)), at(0));
        for number in 1..=100 {
            room.on(Event::Asks(1, task(n), numbered(number)), at(0));
        }
    }
    room.on(Event::Pushed(1, task(11)), at(0));
    check(&mut room, vec![(0, Event::Asks(1, task(11), numbered(1)), &["tell 1: refused 1 k_sc_ec_300073"])]);
}

#[test]
fn with_its_attempt_everything_ends_that_it_holds_or_waits_for() {
    let mut room = holding(7);
    check(
        &mut room,
        vec![
            (1, Event::Asks(1, task(1), v1::AskLocks { ask: 2, ..ask(&["y"]) }), &["take y for 2 within 5s"]),
            (1, Event::Pushed(1, task(2)), &[]),
            (1, Event::Asks(1, task(2), ask(&["z"])), &["take z for 1 within 5s"]),
            (2, Event::Over(1, task(1)), &["stop 1 of a", "stop 2 of a"]),
            (2, Event::Ended(ID()), &[]),
            (2, Event::Failed(id("a", task(1), 2), Code::LockHeld.fault()), &[]),
        ],
    );
    assert_eq!(room.claims(|_, _| None).len(), 1, "the other attempt's");
}

#[test]
fn a_lock_that_is_kept_alive_is_shown_with_the_time_of_its_last_renewal() {
    let room = holding(7);
    let renewed = |lock: &LockName, owner: &Owner| (lock.as_str() == "x" && *owner == ID().owner()).then(|| at(70));
    assert_eq!(room.claims(renewed)[0].until, at(70));
    assert_eq!(room.claims(|_, _| None)[0].until, at(30), "as it was taken");
}

#[test]
fn an_executor_that_leaves_holds_nothing() {
    check(&mut holding(7), vec![(1, Event::Leaves(1), &["stop 1 of a"])]);
}

#[test]
fn what_is_held_outlives_the_stream_for_as_long_as_the_lease() {
    let mut room = holding(7);
    check(
        &mut room,
        vec![
            (1, Event::Beats(1), &[]),
            (2, Event::Gone(1), &[]),
            (3, Event::Tick, &[]),
            (4, Event::Tick, &["stop 1 of a"]),
            (4, Event::Tick, &[]),
            (4, Event::Ended(ID()), &[]),
        ],
    );
    assert!(room.claims(|_, _| None).is_empty() && room.asks.is_empty());
    assert_eq!(room.on(Event::Tick, at(5)), []);
    assert!(room.lives.is_empty(), "nothing is remembered of who is gone");
}

#[test]
fn one_that_falls_silent_on_its_stream_loses_what_it_holds() {
    check(
        &mut holding(7),
        vec![
            (1, Event::Beats(1), &[]),
            (3, Event::Tick, &[]),
            (4, Event::Tick, &["tell 1: lost 1 x", "stop 1 of a"]),
            (4, Event::Ended(ID()), &[]),
            // It wakes up and says what it was about to say.
            (5, Event::Lets(1, task(1), 1), &["tell 1: left 1"]),
        ],
    );
}

#[test]
fn whoever_comes_back_goes_on_with_what_he_asks_for_again() {
    check(
        &mut holding(7),
        vec![
            (1, Event::Gone(1), &[]),
            (2, Event::Registers(2, executor("a")), &[]),
            (2, Event::Welcomed(2, vec![task(1)]), &[]),
            (
                2,
                Event::Asks(
                    2,
                    task(1),
                    v1::AskLocks { held: vec![v1::HeldLock { name: "x".into(), token: 7 }], ..ask(&["x"]) },
                ),
                &["tell 2: granted 1 x:7"],
            ),
            (4, Event::Beats(2), &[]),
            (6, Event::Tick, &[]),
            (6, Event::Lets(2, task(1), 1), &["stop 1 of a"]),
            (6, Event::Ended(ID()), &["tell 2: left 1"]),
        ],
    );
}

#[test]
fn what_he_does_not_speak_of_again_is_left() {
    check(
        &mut holding(7),
        vec![
            (1, Event::Gone(1), &[]),
            (2, Event::Registers(2, executor("a")), &[]),
            (2, Event::Welcomed(2, vec![]), &[]),
            (4, Event::Beats(2), &[]),
            (4, Event::Tick, &[]),
            (5, Event::Tick, &["tell 2: lost 1 x", "stop 1 of a"]),
        ],
    );
}

#[test]
fn a_wait_ends_with_its_stream_and_is_begun_anew_on_the_next() {
    check(
        &mut one_visitor(),
        vec![
            (0, Event::Asks(1, task(1), ask(&["x"])), &["take x for 1 within 5s"]),
            (1, Event::Gone(1), &["stop 1 of a"]),
            (1, Event::Registers(2, executor("a")), &[]),
            (1, Event::Welcomed(2, vec![task(1)]), &[]),
            // Sooner than what was begun has ended.
            (1, Event::Asks(2, task(1), v1::AskLocks { wait_ms: 4_000, ..ask(&["x"]) }), &[]),
            (1, Event::Ended(ID()), &["take x for 1 within 4s"]),
        ],
    );
}

#[test]
fn what_is_about_to_go_on_is_not_given_up_with_a_stream() {
    let held = vec![v1::HeldLock { name: "x".into(), token: 7 }];
    check(
        &mut one_visitor(),
        vec![
            (0, Event::Asks(1, task(1), v1::AskLocks { held, ..ask(&["x"]) }), &["go on with x:7 for 1"]),
            (1, Event::Gone(1), &[]),
            (1, Event::Took(ID(), tokens(&[("x", 7)]), at(30)), &[]),
            (2, Event::Registers(2, executor("a")), &[]),
            (2, Event::Welcomed(2, vec![task(1)]), &[]),
            (2, Event::Asks(2, task(1), ask(&["x"])), &["tell 2: granted 1 x:7"]),
        ],
    );
}

#[test]
fn of_two_streams_of_one_life_the_newer_counts() {
    check(
        &mut holding(7),
        vec![
            (1, Event::Registers(2, executor("a")), &[]),
            (1, Event::Welcomed(2, vec![task(1)]), &[]),
            (1, Event::Asks(2, task(1), ask(&["x"])), &["tell 2: granted 1 x:7"]),
            // The old one's end comes late, and is nothing to it.
            (2, Event::Gone(1), &[]),
            (3, Event::Beats(2), &[]),
            (5, Event::Tick, &[]),
        ],
    );
}

#[test]
fn from_another_node_it_goes_on_or_is_lost() {
    let again = |held: &[(&str, u64)]| v1::AskLocks {
        held: held.iter().map(|(name, token)| v1::HeldLock { name: (*name).to_owned(), token: *token }).collect(),
        ..ask(&["x", "y"])
    };
    let both = [("x", 7), ("y", 8)];
    check(
        &mut one_visitor(),
        vec![
            (0, Event::Asks(1, task(1), again(&both)), &["go on with x:7 y:8 for 1"]),
            (0, Event::Took(ID(), tokens(&[("x", 7)]), at(30)), &["tell 1: granted 1 x:7"]),
            (0, Event::Lost(ID(), names(&["y"])), &["tell 1: lost 1 y"]),
            (0, Event::Lets(1, task(1), 1), &["stop 1 of a"]),
            (0, Event::Ended(ID()), &["tell 1: left 1"]),
            // An attempt that is not its own any more has nothing.
            (1, Event::Asks(1, task(2), again(&both)), &["tell 1: lost 1 x y"]),
        ],
    );
    check(
        &mut one_visitor(),
        vec![
            (0, Event::Asks(1, task(1), again(&both)), &["go on with x:7 y:8 for 1"]),
            (0, Event::Lost(ID(), names(&["x", "y"])), &["tell 1: lost 1 x y", "stop 1 of a"]),
            (0, Event::Ended(ID()), &[]),
        ],
    );
}

#[test]
fn what_the_watchdog_finds_lost_is_told_and_the_rest_goes_on() {
    let mut room = one_visitor();
    check(
        &mut room,
        vec![
            (0, Event::Asks(1, task(1), ask(&["x", "y"])), &["take x y for 1 within 5s"]),
            (0, Event::Took(ID(), tokens(&[("x", 7), ("y", 1)]), at(30)), &["tell 1: granted 1 x:7 y:1"]),
            (1, Event::Lost(ID(), names(&["x"])), &["tell 1: lost 1 x"]),
        ],
    );
    assert_eq!(room.claims(|_, _| None).iter().map(|claim| claim.lock.as_str()).collect::<Vec<_>>(), ["y"]);
    check(&mut room, vec![(1, Event::Lost(ID(), names(&["y"])), &["tell 1: lost 1 y", "stop 1 of a"])]);
}

#[test]
fn a_lease_of_its_own_ends_by_itself_whoever_is_there() {
    let leased = v1::AskLocks { lease_ms: Some(10_000), ..ask(&["x"]) };
    check(
        &mut one_visitor(),
        vec![
            (0, Event::Asks(1, task(1), leased), &["take x for 1 within 5s"]),
            (1, Event::Took(ID(), tokens(&[("x", 7)]), at(11)), &["tell 1: granted 1 x:7 for 10000 ms"]),
            (9, Event::Beats(1), &[]),
            (10, Event::Tick, &[]),
            (11, Event::Tick, &["tell 1: lost 1 x", "stop 1 of a"]),
        ],
    );
}

#[test]
fn what_is_had_after_it_was_given_up_is_not_told() {
    check(
        &mut one_visitor(),
        vec![
            (0, Event::Asks(1, task(1), ask(&["x"])), &["take x for 1 within 5s"]),
            (1, Event::Lets(1, task(1), 1), &["stop 1 of a"]),
            (1, Event::Took(ID(), tokens(&[("x", 7)]), at(30)), &[]),
            (1, Event::Ended(ID()), &["tell 1: left 1"]),
        ],
    );
}

#[test]
fn people_see_an_attempt_once_for_each_lock_with_how_often_it_entered() {
    let mut room = holding(7);
    let second = v1::AskLocks { ask: 2, ..ask(&["x", "y"]) };
    check(
        &mut room,
        vec![
            (1, Event::Asks(1, task(1), second), &["take x y for 2 within 5s"]),
            (
                1,
                Event::Took(id("a", task(1), 2), tokens(&[("x", 7), ("y", 3)]), at(31)),
                &["tell 1: granted 2 x:7 y:3"],
            ),
            (2, Event::Pushed(1, task(2)), &[]),
            (2, Event::Asks(1, task(2), ask(&["x"])), &["take x for 1 within 5s"]),
        ],
    );
    let claims = room.claims(|_, _| None);
    let seen: Vec<_> = claims
        .iter()
        .map(|claim| (claim.lock.as_str(), claim.since, claim.until, claim.held.map(|held| (held.token, held.count))))
        .collect();
    assert_eq!(
        seen,
        [("x", at(0), at(31), Some((7, 2))), ("x", at(2), at(7), None), ("y", at(1), at(31), Some((3, 1))),]
    );
}
