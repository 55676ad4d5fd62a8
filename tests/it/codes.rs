//! The codes that executors give are those of the closed list, in the same words.

use campanile_model::{Code, Words};
use campanile_sdk::failure;

#[test]
fn every_code_of_the_sdk_is_in_the_list_and_says_the_same() {
    for code in failure::ALL {
        let listed = Code::ALL.iter().find(|listed| listed.as_str() == code.code);
        let listed = listed.unwrap_or_else(|| panic!("{} is not in the list", code.code));
        assert_eq!(listed.message(), Words::new(code.en, code.zh), "{}", code.code);
    }
}
