//! Steps of other modules, by path, by `use`, by another name.

use apollo::task;

mod ingest {
    pub mod deep {
        #[apollo::step]
        pub fn fetch() -> u32 {
            1
        }
    }

    #[apollo::step(depends_on = [self::deep::fetch])]
    pub(crate) fn validate(fetch: &u32) -> u32 {
        *fetch
    }
}

mod report {
    use super::ingest;
    use ingest::deep::fetch as raw_file;

    #[apollo::step(depends_on = [raw_file, ingest::validate, crate::more::fetch_more])]
    pub(super) fn write(raw_file: &u32, validate: &u32) -> u32 {
        raw_file + validate
    }
}

mod more {
    #[apollo::step]
    pub fn fetch_more() {}
}

use ingest::deep::fetch;
use ingest::validate as checked;

task! { daily { steps: [fetch, checked, report::write, more::fetch_more] } }

fn main() {
    let _ = daily();
}
