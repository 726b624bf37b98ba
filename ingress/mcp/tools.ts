import type { Tool } from './tool.ts'
import { acceptanceGet, antiDilutionGet, entityVerify, leiResolve } from './tools/businesses.ts'
import { checkCreate, checkFlips, checkGet, checkPause, checkResume, checksList } from './tools/checks.ts'
import { anchorVerify, gstinValidate, provenanceVerify, usageGet } from './tools/evidence.ts'
import { alertExplain } from './tools/explain.ts'
import { firstFinancingCheck, firstFinancingRegister } from './tools/financing.ts'
import { incidentAcknowledge, incidentGet, incidentsList } from './tools/incidents.ts'
import { riskSignalsGet, riskSignalsRun } from './tools/packs.ts'

/** The order is that of the published list (docs/spec/evidence-families.md#agent-tools). */
export const tools: readonly Tool[] = [
  gstinValidate,
  anchorVerify,
  riskSignalsRun,
  riskSignalsGet,
  entityVerify,
  leiResolve,
  firstFinancingCheck,
  firstFinancingRegister,
  acceptanceGet,
  antiDilutionGet,
  provenanceVerify,
  usageGet,
  checksList,
  checkGet,
  checkFlips,
  alertExplain,
  incidentsList,
  incidentGet,
  checkCreate,
  checkPause,
  checkResume,
  incidentAcknowledge,
]
