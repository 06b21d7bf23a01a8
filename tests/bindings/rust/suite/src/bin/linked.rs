//! Uses the library that was linked at build time.

fn main() {
    #[cfg(feature = "link")]
    let library = llama_speculative::Library::linked().expect("the linked library fits");
    #[cfg(not(feature = "link"))]
    let library = suite::library();
    println!("{}", library.status_name(0));
}
