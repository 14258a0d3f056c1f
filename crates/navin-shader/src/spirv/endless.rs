//! Finds loops without a way out in a SPIR-V module: the usual cause of a submission that never completes (B235).

use std::collections::HashMap;

/// Words of a module's header.
const HEADER: usize = 5;

/// Opcodes of the core grammar that matter for control flow.
mod op {
    pub const FUNCTION_END: u16 = 56;
    pub const LABEL: u16 = 248;
    pub const BRANCH: u16 = 249;
    pub const BRANCH_CONDITIONAL: u16 = 250;
    pub const SWITCH: u16 = 251;
    pub const KILL: u16 = 252;
    pub const RETURN: u16 = 253;
    pub const RETURN_VALUE: u16 = 254;
    pub const TERMINATE_INVOCATION: u16 = 4416;
}

#[derive(Default)]
struct Block {
    successors: Vec<u32>,
    /// Ends the function, or the invocation.
    leaves: bool,
}

/// The labels of blocks that are reached and from which no return is, a first block of each such region first. Empty
/// for a module whose every loop has a way out. Words that are no module give an empty answer.
///
/// A condition counts as able to go both ways: a loop that is left when a value in memory changes is not endless.
pub fn endless_blocks(words: &[u32]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut blocks: HashMap<u32, Block> = HashMap::new();
    let mut order: Vec<u32> = Vec::new();
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        let (opcode, length) = (first as u16, (first >> 16) as usize);
        let Some(operands) = words.get(at + 1..at + length.max(1)) else { return Vec::new() };
        at += length.max(1);
        match opcode {
            op::LABEL => {
                let Some(&label) = operands.first() else { return Vec::new() };
                blocks.insert(label, Block::default());
                order.push(label);
            }
            op::FUNCTION_END => {
                found.extend(endless(&order, &blocks));
                blocks.clear();
                order.clear();
            }
            _ => {
                let Some(block) = order.last().and_then(|label| blocks.get_mut(label)) else { continue };
                match opcode {
                    op::BRANCH => block.successors.extend(operands.first()),
                    op::BRANCH_CONDITIONAL => block.successors.extend(operands.iter().skip(1).take(2)),
                    // Selector, default, then pairs of literal and label; selectors here are of 32 bits.
                    op::SWITCH => {
                        block.successors.extend(operands.get(1));
                        block.successors.extend(operands.iter().skip(3).step_by(2));
                    }
                    op::KILL | op::RETURN | op::RETURN_VALUE | op::TERMINATE_INVOCATION => block.leaves = true,
                    _ => {}
                }
            }
        }
    }
    found
}

/// One function's.
fn endless(order: &[u32], blocks: &HashMap<u32, Block>) -> Vec<u32> {
    let Some(entry) = order.first() else { return Vec::new() };
    let mut reached: Vec<u32> = vec![*entry];
    let mut next = 0;
    while let Some(label) = reached.get(next) {
        next += 1;
        for successor in blocks.get(label).into_iter().flat_map(|block| &block.successors) {
            if !reached.contains(successor) {
                reached.push(*successor);
            }
        }
    }
    // Backwards from what leaves, until nothing more is found.
    let mut leaving: Vec<u32> = order.iter().copied().filter(|label| blocks[label].leaves).collect();
    loop {
        let before = leaving.len();
        for label in order {
            if !leaving.contains(label) && blocks[label].successors.iter().any(|to| leaving.contains(to)) {
                leaving.push(*label);
            }
        }
        if leaving.len() == before {
            break;
        }
    }
    order.iter().copied().filter(|label| reached.contains(label) && !leaving.contains(label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instruction(opcode: u16, operands: &[u32]) -> Vec<u32> {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | u32::from(opcode)];
        words.extend(operands);
        words
    }

    /// A function of blocks, each a label and its last instruction.
    fn module(blocks: &[(u32, u16, &[u32])]) -> Vec<u32> {
        let mut words = vec![0x0723_0203, 0x0001_0600, 0, 100, 0];
        words.extend(instruction(54, &[1, 2, 0, 3]));
        for (label, opcode, operands) in blocks {
            words.extend(instruction(op::LABEL, &[*label]));
            words.extend(instruction(*opcode, operands));
        }
        words.extend(instruction(op::FUNCTION_END, &[]));
        words
    }

    #[test]
    fn b235_a_loop_without_an_exit_is_found_and_one_with_an_exit_is_not() {
        let endless = module(&[
            (10, op::BRANCH_CONDITIONAL, &[5, 11, 13]),
            (11, op::BRANCH, &[12]),
            (12, op::BRANCH, &[11]),
            (13, op::RETURN, &[]),
        ]);
        assert_eq!(endless_blocks(&endless), [11, 12]);
        let exits = module(&[
            (10, op::BRANCH, &[11]),
            (11, op::BRANCH_CONDITIONAL, &[5, 12, 13]),
            (12, op::BRANCH, &[11]),
            (13, op::RETURN, &[]),
        ]);
        assert_eq!(endless_blocks(&exits), []);
        // What is not reached does not run; a loop is left by a discard, or by a case of a switch.
        let unreached = module(&[(10, op::KILL, &[]), (11, op::BRANCH, &[11])]);
        assert_eq!(endless_blocks(&unreached), []);
        let switched = module(&[(10, op::SWITCH, &[5, 10, 7, 11]), (11, op::TERMINATE_INVOCATION, &[])]);
        assert_eq!(endless_blocks(&switched), []);
    }

    #[test]
    fn b235_no_program_of_the_corpus_is_endless_and_no_words_panic() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/bin");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "spv") {
                let bytes = std::fs::read(&path).unwrap();
                let words: Vec<u32> =
                    bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
                assert_eq!(endless_blocks(&words), [], "{}", path.display());
                for cut in [0, 4, 6, words.len() / 2] {
                    endless_blocks(&words[..cut]);
                }
                read += 1;
            }
        }
        assert!(read > 300);
        endless_blocks(&[0; 64]);
    }
}
