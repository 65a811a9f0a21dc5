//! One behaviour suite through the public face, over the embedded server and a real memcached, which must agree.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

#[path = "contract/admin.rs"]
mod admin;
#[path = "contract/bad_input.rs"]
mod bad_input;
#[path = "contract/codecs.rs"]
mod codecs;
#[path = "contract/counters.rs"]
mod counters;
#[path = "contract/expiry.rs"]
mod expiry;
#[path = "contract/handles.rs"]
mod handles;
#[path = "contract/many.rs"]
mod many;
#[path = "contract/outages.rs"]
mod outages;
#[path = "contract/reads.rs"]
mod reads;
#[path = "contract/servers.rs"]
mod servers;
#[path = "contract/stand.rs"]
mod stand;
#[path = "contract/stores.rs"]
mod stores;
#[path = "contract/values.rs"]
mod values;

/// Makes a test of each behaviour on each kind of server.
macro_rules! contract {
    ($($family:ident: $($behaviour:ident)+;)+) => {
        contract!(@on embedded, $($family: $($behaviour)+;)+);
        contract!(@on embedded_v6, $($family: $($behaviour)+;)+);
        contract!(@on embedded_unix, $($family: $($behaviour)+;)+);
        contract!(@on real, $($family: $($behaviour)+;)+);
        contract!(@on real_v6, $($family: $($behaviour)+;)+);
        contract!(@on real_unix, $($family: $($behaviour)+;)+);
    };
    (@on $kind:ident, $($family:ident: $($behaviour:ident)+;)+) => {
        mod $kind {
            $(mod $family {
                $(#[test]
                fn $behaviour() {
                    let stand = crate::stand::Stand::$kind();
                    crate::$family::$behaviour(&stand);
                    stand.nothing_is_lost();
                })+
            })+
        }
    };
}

contract! {
    reads:
        a_miss_is_none_and_a_value_comes_back
        a_key_with_any_legal_byte_works
        an_empty_value_is_a_value
        raw_reads_show_bytes_and_flags_and_keep_the_buffers_room
        get_and_touch_reads_and_moves_the_expiry
        contains_key_sees_what_cannot_be_decoded
        a_value_of_a_megabyte_comes_back;
    stores:
        add_and_replace_say_whether_they_stored
        append_and_prepend_say_whether_they_stored
        cas_tells_stored_changed_and_missing_apart
        a_cas_token_of_another_client_is_refused
        a_cas_token_of_another_key_is_refused
        delete_and_touch_say_whether_there_was_a_value
        a_ttl_is_kept_and_immediate_never_means_never;
    counters:
        incr_and_decr_count_what_set_stored
        counters_wrap_up_and_stop_at_zero
        a_counter_that_is_no_number_is_a_typed_error
        text_that_only_looks_like_a_number_is_not_counted
        incr_or_init_starts_at_the_initial_value
        a_counter_is_read_with_the_blanks_that_decr_leaves;
    many:
        each_key_has_its_own_outcome
        a_bad_key_fails_alone
        duplicates_are_asked_for_once_and_answered_twice
        ten_thousand_keys_come_back
        large_values_come_back_together
        gets_many_gives_tokens_that_work
        one_value_that_cannot_be_encoded_fails_alone
        one_value_over_the_servers_limit_fails_alone
        delete_many_says_what_there_was
        no_keys_are_no_work;
    codecs:
        the_natural_thing_happens_to_every_kind_of_value
        primitives_as_strings_are_read_as_strings
        whalins_preset_writes_whalins_bytes_under_whalins_keys
        raw_takes_bytes_and_nothing_else
        foreign_flags_are_an_error_with_the_bytes
        a_custom_codec_sees_every_value;
    handles:
        a_prefix_is_put_before_every_key_once
        a_handles_prefix_takes_the_place_of_the_clients
        handles_share_pools_and_keep_their_own_settings
        close_is_final_and_harmless_twice
        one_thread_needs_one_connection;
    admin:
        every_server_tells_its_version_and_figures
        flush_all_forgets_everything
        keys_can_be_listed
        warm_up_opens_the_initial_connections;
    expiry:
        what_is_expired_is_gone_for_every_verb;
    values:
        every_kind_of_value_comes_back_by_every_codec;
    outages:
        an_outage_is_every_verbs_miss_where_that_is_asked_for
        errors_as_misses_hides_no_mistake_of_the_caller
        the_observer_hears_of_each_failed_call_exactly_once
        every_call_to_a_server_that_is_gone_says_so;
    servers:
        server_for_names_the_server_that_really_holds_the_key
        a_routed_key_lives_where_its_route_lives_and_a_hash_chooses_the_server
        many_keys_go_to_their_servers_over_one_connection_each
        a_server_that_is_gone_fails_only_its_own_result;
    bad_input:
        bad_keys_are_refused_by_every_call_before_anything_is_sent
        a_key_may_be_legal_alone_and_too_long_with_its_prefix
        what_json_cannot_hold_is_a_typed_error
        what_the_other_codecs_cannot_hold_is_a_typed_error
        an_expiry_beyond_memcached_is_refused_by_every_call_that_takes_one
        a_value_over_the_clients_limit_is_refused_before_anything_is_sent
        a_value_over_the_clients_limit_that_someone_else_stored_is_not_read
        a_value_over_the_servers_limit_fails_alone_and_costs_no_connection
        the_servers_limit_is_the_one_it_was_started_with
        clean_refusals_cost_no_connection;
}
