export { MASKS, type Mask, type Masking, maskValue } from './mask.ts'
export { type MaskRules, maskingOf, projectMaskKey } from './masking.ts'
