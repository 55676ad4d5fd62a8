//! Passes: how one is drawn, and by what it is known. The secret stays with whoever drew it.

use campanile_model::connection::Secret;
use campanile_model::secret::to_hex;

use crate::tokens::digest;

/// What is shown begins so; a node looks for nothing else among passes.
const PREFIX: &str = "pass_";

/// A secret that nobody else has, of 256 bits.
pub fn draw() -> Secret {
    Secret(format!("{PREFIX}{}", to_hex(&rand::random::<[u8; 32]>())))
}

/// By what a pass is known that is shown so; none: it is no pass.
pub fn known_by(shown: &str) -> Option<String> {
    let secret = shown.strip_prefix(PREFIX)?;
    (secret.len() == 64 && secret.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| digest(shown))
}

#[cfg(test)]
mod tests {
    use campanile_model::pass::is_digest;

    use super::*;

    #[test]
    fn what_is_drawn_is_known_by_a_digest_that_is_no_pass_itself() {
        let drawn = draw();
        let known = known_by(&drawn.0).expect("it is a pass");
        assert!(is_digest(&known) && !drawn.0.contains(&known), "{known}");
        for shown in [known.clone(), format!("{PREFIX}{known}x"), String::new(), PREFIX.to_owned()] {
            assert_eq!(known_by(&shown), None, "{shown}");
        }
        // Somebody who has read the database shows what stands there.
        assert_ne!(known_by(&format!("{PREFIX}{known}")), Some(known));
        assert_ne!(draw().0, drawn.0);
    }
}
