//! Arithmetic: most operations are one SPIR-V instruction.

use super::emit::{Context, Emitter};
use super::module::{Id, Type};
use super::op::{self, glsl};
use crate::Requirements;
use crate::ir::{Inst, Op, Value};

/// How an operation is written.
enum Form {
    /// One instruction.
    Core(u32),
    /// One instruction whose rounding is observable: it may not be contracted.
    Exact(u32),
    /// One extended instruction.
    Extended(u32),
}

fn form(o: Op) -> Option<Form> {
    use Form::{Core, Exact, Extended};
    Some(match o {
        Op::FAdd | Op::DAdd => Exact(op::F_ADD),
        Op::FSub => Exact(op::F_SUB),
        Op::FMul | Op::DMul => Exact(op::F_MUL),
        Op::FNeg | Op::DNeg => Core(op::F_NEGATE),
        Op::FAbs | Op::DAbs => Extended(glsl::F_ABS),
        Op::FMin | Op::DMin => Extended(glsl::N_MIN),
        Op::FMax | Op::DMax => Extended(glsl::N_MAX),
        Op::FFloor | Op::DFloor => Extended(glsl::FLOOR),
        Op::FCeil | Op::DCeil => Extended(glsl::CEIL),
        Op::FTrunc | Op::DTrunc => Extended(glsl::TRUNC),
        Op::FRound | Op::DRound => Extended(glsl::ROUND_EVEN),
        Op::FSin => Extended(glsl::SIN),
        Op::FCos => Extended(glsl::COS),
        Op::FExp2 => Extended(glsl::EXP2),
        Op::FLog2 => Extended(glsl::LOG2),
        Op::FRsq | Op::DRsq => Extended(glsl::INVERSE_SQRT),
        Op::FSqrt | Op::DSqrt => Extended(glsl::SQRT),
        Op::FIsNan | Op::DIsNan => Core(op::IS_NAN),
        Op::FLt | Op::DLt => Core(op::F_ORD_LESS_THAN),
        Op::FLe | Op::DLe => Core(op::F_ORD_LESS_THAN_EQUAL),
        Op::FEq | Op::DEq => Core(op::F_ORD_EQUAL),
        Op::FNe | Op::DNe => Core(op::F_ORD_NOT_EQUAL),
        Op::FGt | Op::DGt => Core(op::F_ORD_GREATER_THAN),
        Op::FGe | Op::DGe => Core(op::F_ORD_GREATER_THAN_EQUAL),
        Op::FLtU => Core(op::F_UNORD_LESS_THAN),
        Op::FLeU => Core(op::F_UNORD_LESS_THAN_EQUAL),
        Op::FEqU => Core(op::F_UNORD_EQUAL),
        Op::FNeU => Core(op::F_UNORD_NOT_EQUAL),
        Op::FGtU => Core(op::F_UNORD_GREATER_THAN),
        Op::FGeU => Core(op::F_UNORD_GREATER_THAN_EQUAL),
        Op::IAdd => Core(op::I_ADD),
        Op::ISub => Core(op::I_SUB),
        Op::IMul => Core(op::I_MUL),
        Op::INeg => Core(op::S_NEGATE),
        Op::And => Core(op::BITWISE_AND),
        Op::Or => Core(op::BITWISE_OR),
        Op::Xor => Core(op::BITWISE_XOR),
        Op::Not => Core(op::NOT),
        Op::Shl => Core(op::SHIFT_LEFT_LOGICAL),
        Op::Shr => Core(op::SHIFT_RIGHT_LOGICAL),
        Op::Sar => Core(op::SHIFT_RIGHT_ARITHMETIC),
        Op::BitCount => Core(op::BIT_COUNT),
        Op::BitReverse => Core(op::BIT_REVERSE),
        Op::BfeU => Core(op::BIT_FIELD_U_EXTRACT),
        Op::Bfi => Core(op::BIT_FIELD_INSERT),
        Op::FindMsbU => Extended(glsl::FIND_U_MSB),
        Op::UMin => Extended(glsl::U_MIN),
        Op::UMax => Extended(glsl::U_MAX),
        Op::SMin => Extended(glsl::S_MIN),
        Op::SMax => Extended(glsl::S_MAX),
        Op::FindMsbS => Extended(glsl::FIND_S_MSB),
        Op::IEq => Core(op::I_EQUAL),
        Op::INe => Core(op::I_NOT_EQUAL),
        Op::ULt => Core(op::U_LESS_THAN),
        Op::ULe => Core(op::U_LESS_THAN_EQUAL),
        Op::UGt => Core(op::U_GREATER_THAN),
        Op::UGe => Core(op::U_GREATER_THAN_EQUAL),
        Op::SLt => Core(op::S_LESS_THAN),
        Op::SLe => Core(op::S_LESS_THAN_EQUAL),
        Op::SGt => Core(op::S_GREATER_THAN),
        Op::SGe => Core(op::S_GREATER_THAN_EQUAL),
        Op::BAnd => Core(op::LOGICAL_AND),
        Op::BOr => Core(op::LOGICAL_OR),
        Op::BXor => Core(op::LOGICAL_NOT_EQUAL),
        Op::BNot => Core(op::LOGICAL_NOT),
        Op::Select | Op::SelectB => Core(op::SELECT),
        Op::FToS | Op::DToS => Core(op::CONVERT_F_TO_S),
        Op::FToU | Op::DToU => Core(op::CONVERT_F_TO_U),
        Op::SToF | Op::SToD => Core(op::CONVERT_S_TO_F),
        Op::UToF | Op::UToD => Core(op::CONVERT_U_TO_F),
        Op::FToD | Op::DToF => Core(op::F_CONVERT),
        _ => return None,
    })
}

impl Emitter {
    /// The operands of an instruction by its signature.
    fn operands(&mut self, c: &Context<'_, '_>, v: Value, inst: &Inst) -> smallvec::SmallVec<[Id; 4]> {
        let t = c.f.types[v.index()];
        let classes = inst.op.operands();
        classes
            .iter()
            .zip(&inst.args)
            .filter(|(class, _)| **class != crate::ir::Class::I)
            .map(|(class, &arg)| self.operand(c, Value(arg), *class, t))
            .collect()
    }

    pub(super) fn arithmetic(&mut self, c: &mut Context<'_, '_>, v: Value, inst: &Inst) {
        let operands = self.operands(c, v, inst);
        let ty = self.result_type(c, v);
        let own = self.own(v);
        if inst.op.result() == crate::ir::Class::D || inst.op.operands().contains(&crate::ir::Class::D) {
            self.m.capability(op::capability::FLOAT64);
            c.interface.requirements |= Requirements::FLOAT64;
        }
        match form(inst.op) {
            Some(Form::Core(opcode)) => return self.m.result_as(own, opcode, ty, &operands),
            Some(Form::Exact(opcode)) => {
                self.m.result_as(own, opcode, ty, &operands);
                return self.m.exact(own);
            }
            Some(Form::Extended(number)) => return self.m.extended_as(own, number, ty, &operands),
            None => {}
        }
        match inst.op {
            Op::FFma | Op::DFma => {
                self.m.extended_as(own, glsl::FMA, ty, &operands);
                // Keeps it one operation with one rounding, where the device has that.
                self.m.exact(own);
            }
            Op::FSat => {
                let (zero, one) = (self.m.constant(Type::Float, 0), self.m.constant(Type::Float, 1f32.to_bits()));
                self.m.extended_as(own, glsl::N_CLAMP, ty, &[operands[0], zero, one]);
            }
            Op::FRcp => {
                let one = self.m.constant(Type::Float, 1f32.to_bits());
                self.m.result_as(own, op::F_DIV, ty, &[one, operands[0]]);
                self.m.exact(own);
            }
            Op::DRcp => {
                let one = self.m.uint(1);
                let one = self.m.result(op::CONVERT_U_TO_F, ty, &[one]);
                self.m.result_as(own, op::F_DIV, ty, &[one, operands[0]]);
            }
            Op::DPdx | Op::DPdy => {
                self.m.capability(op::capability::DERIVATIVE_CONTROL);
                let opcode = if inst.op == Op::DPdx { op::D_PDX_FINE } else { op::D_PDY_FINE };
                self.m.result_as(own, opcode, ty, &operands);
            }
            Op::UMulHi | Op::SMulHi => {
                let pair = self.m.ty(Type::Pair(ty));
                let opcode = if inst.op == Op::UMulHi { op::U_MUL_EXTENDED } else { op::S_MUL_EXTENDED };
                let product = self.m.result(opcode, pair, &operands);
                self.m.result_as(own, op::COMPOSITE_EXTRACT, ty, &[product, 1]);
            }
            Op::BfeS => {
                // The result takes its sign from the operand's type in some drivers: it is given a signed one.
                let int = self.m.ty(Type::Int);
                let signed = self.m.result(op::BITCAST, int, &[operands[0]]);
                let field = self.m.result(op::BIT_FIELD_S_EXTRACT, int, &[signed, operands[1], operands[2]]);
                self.m.result_as(own, op::BITCAST, ty, &[field]);
            }
            Op::DPack => {
                let pair = self.m.vector(Type::Uint, 2);
                let words = self.m.result(op::COMPOSITE_CONSTRUCT, pair, &operands);
                self.m.result_as(own, op::BITCAST, ty, &[words]);
            }
            Op::DLow | Op::DHigh => {
                let pair = self.m.vector(Type::Uint, 2);
                let words = self.m.result(op::BITCAST, pair, &operands);
                self.m.result_as(own, op::COMPOSITE_EXTRACT, ty, &[words, u32::from(inst.op == Op::DHigh)]);
            }
            Op::PackHalf => {
                let pair = self.m.vector(Type::Float, 2);
                let both = self.m.result(op::COMPOSITE_CONSTRUCT, pair, &operands);
                self.m.extended_as(own, glsl::PACK_HALF_2X16, ty, &[both]);
            }
            Op::HalfLow | Op::HalfHigh => {
                let pair = self.m.vector(Type::Float, 2);
                let both = self.m.id();
                self.m.extended_as(both, glsl::UNPACK_HALF_2X16, pair, &operands);
                self.m.result_as(own, op::COMPOSITE_EXTRACT, ty, &[both, u32::from(inst.op == Op::HalfHigh)]);
            }
            _ => self.lanes(c, inst, &operands, ty, own),
        }
    }

    /// Operations between lanes.
    fn lanes(&mut self, c: &mut Context<'_, '_>, inst: &Inst, operands: &[Id], ty: Id, own: Id) {
        use op::capability as cap;
        if c.options.emulates_warps(c.program.stage) {
            match inst.op {
                Op::Shuffle => return self.exchanged(c, own, ty, operands[0], operands[1]),
                Op::Ballot => return self.ballot(c, own, operands[0]),
                Op::VoteAll | Op::VoteAny => {
                    let (bool, zero) = (self.m.ty(Type::Bool), self.m.uint(0));
                    let all = inst.op == Op::VoteAll;
                    let truth = if all { self.m.result(op::LOGICAL_NOT, bool, &[operands[0]]) } else { operands[0] };
                    let mask = self.m.id();
                    self.ballot(c, mask, truth);
                    let compare = if all { op::I_EQUAL } else { op::I_NOT_EQUAL };
                    return self.m.result_as(own, compare, bool, &[mask, zero]);
                }
                _ => {}
            }
        }
        let scope = self.m.uint(3);
        self.m.capability(cap::GROUP_NON_UNIFORM);
        let requirement;
        match inst.op {
            Op::QuadSwap => {
                self.m.capability(cap::GROUP_NON_UNIFORM_QUAD);
                requirement = Requirements::SUBGROUP_QUAD;
                let direction = self.m.uint(inst.args[1]);
                self.m.result_as(own, op::GROUP_NON_UNIFORM_QUAD_SWAP, ty, &[scope, operands[0], direction]);
            }
            Op::QuadBroadcast => {
                self.m.capability(cap::GROUP_NON_UNIFORM_QUAD);
                requirement = Requirements::SUBGROUP_QUAD;
                let lane = self.m.uint(inst.args[1]);
                self.m.result_as(own, op::GROUP_NON_UNIFORM_QUAD_BROADCAST, ty, &[scope, operands[0], lane]);
            }
            Op::Shuffle => {
                self.m.capability(cap::GROUP_NON_UNIFORM_SHUFFLE);
                requirement = Requirements::SUBGROUP_SHUFFLE | Requirements::FULL_SUBGROUPS;
                self.m.result_as(own, op::GROUP_NON_UNIFORM_SHUFFLE, ty, &[scope, operands[0], operands[1]]);
            }
            Op::Ballot => {
                self.m.capability(cap::GROUP_NON_UNIFORM_BALLOT);
                requirement = Requirements::SUBGROUP_BALLOT | Requirements::FULL_SUBGROUPS;
                let four = self.m.vector(Type::Uint, 4);
                let mask = self.m.result(op::GROUP_NON_UNIFORM_BALLOT, four, &[scope, operands[0]]);
                self.m.result_as(own, op::COMPOSITE_EXTRACT, ty, &[mask, 0]);
            }
            _ => {
                self.m.capability(cap::GROUP_NON_UNIFORM_VOTE);
                requirement = Requirements::SUBGROUP_VOTE | Requirements::FULL_SUBGROUPS;
                let opcode = if inst.op == Op::VoteAll { op::GROUP_NON_UNIFORM_ALL } else { op::GROUP_NON_UNIFORM_ANY };
                self.m.result_as(own, opcode, ty, &[scope, operands[0]]);
            }
        }
        c.interface.requirements |= requirement;
    }
}
