export { isSignedBy, keyIdOf, newNonce, readAgentKey, signAs } from './agent-key.ts'
export { type AgentName, makePass, readPass } from './agent-pass.ts'
export {
  AGENT_SOCKET_PATH,
  type Carried,
  type ChildState,
  type FromAgent,
  isCarried,
  type PeerAddress,
  PING_MS,
  type PlaceOutcome,
  REPORT_MS,
  type TaskReport,
  type ToAgent,
} from './control-message.ts'
export { type Credentials, readVerifyKey, tlsOptions } from './credentials.ts'
export { enrollmentToken, fingerprint, readEnrollmentToken, type Trust } from './enrollment-token.ts'
export { HASH_BYTES, hashBlocks, Manifest, makeManifest } from './manifest.ts'
export { manifestHash, type Order, openOrder, type Place, signOrder } from './order.ts'
export { agentPeerId, type PeerId, peerIdOf, serverPeerId } from './peer-id.ts'
export { AGENT_RESULTS, RESULT, TargetFailure, toTargetFailure } from './result-code.ts'
export { signText } from './signed.ts'
export { issueTicket, openTicket, type PeerTicket } from './ticket.ts'
export { checkWelcome, welcomeText } from './welcome.ts'
