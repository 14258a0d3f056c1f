//! The texture functions of `navin.h` from a C program, linked with the shared library that cargo builds beside the
//! tests. Needs a C compiler and no device.

mod this_program;

#[cfg(target_os = "linux")]
#[test]
fn every_texture_function_from_c() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = this_program::path().parent().unwrap().to_owned();
    let program = folder.join(format!("textures-{}", std::process::id()));
    let built = std::process::Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/c/textures.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&folder)
        .args(["-lnvn", &format!("-Wl,-rpath,{}", folder.display())])
        .output();
    let built = match built {
        Ok(built) => built,
        Err(error) => return eprintln!("no C compiler ({error}): the texture functions were not called from C"),
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    // (Cargo's search path begins with a folder where an older library may lie.)
    let run = std::process::Command::new(&program).env_remove("LD_LIBRARY_PATH").output();
    std::fs::remove_file(&program).unwrap();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
