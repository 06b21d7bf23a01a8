//! The Rust crate's view: `size_of`, `align_of` and `offset_of!`.
use llama_speculative_sys::{CONSTANTS, FUNCTIONS, STRUCTS};

fn main() {
    for s in STRUCTS {
        println!("struct {} {} {}", s.name, s.size, s.align);
        for f in s.fields {
            println!("field {} {} {} {}", s.name, f.name, f.offset, f.size);
        }
    }
    for c in CONSTANTS {
        println!("constant {} {} {}", if c.owner.is_empty() { "-" } else { c.owner }, c.name, c.value);
    }
    for f in FUNCTIONS {
        println!("function {} {:x}", f.name, f.hash);
    }
}
