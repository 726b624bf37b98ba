/** The caller is verified; operations only pass it to the audit log. */
export type Actor =
  /** the label is the key's name, or its first characters */
  | { kind: 'key'; id: number; label: string; owner: string; address: string }
  /** credentials of an organisation's client */
  | { kind: 'client'; id: string; owner: string; address: string }
  | { kind: 'person'; userId: number; email: string; address: string }
  /** a language model's tool with a separate key */
  | { kind: 'agent'; id: string; name: string; address: string }
  /** the holder of a signed link in a message, by the integration that sent it */
  | { kind: 'link'; through: string; address: string }
  /** the holder of a signed link in a mail, not signed in */
  | { kind: 'recipient'; address: string }
  /** by the name of the account on the machine */
  | { kind: 'operator'; name: string }

/** Commands of the operator have no address. */
export function auditedActor(actor: Actor): { userId: number | null; actor: string; address: string } {
  switch (actor.kind) {
    case 'key':
      return { userId: null, actor: `API key ${actor.id} (${actor.label}) of ${actor.owner}`, address: actor.address }
    case 'client':
      return { userId: null, actor: `API client ${actor.id} of ${actor.owner}`, address: actor.address }
    case 'person':
      return { userId: actor.userId, actor: actor.email, address: actor.address }
    case 'agent':
      return { userId: null, actor: `agent key ${actor.id} (${actor.name})`, address: actor.address }
    case 'link':
      return { userId: null, actor: `through ${actor.through}`, address: actor.address }
    case 'recipient':
      return { userId: null, actor: 'recipient of a mail', address: actor.address }
    case 'operator':
      return { userId: null, actor: `operator ${actor.name}`, address: '' }
  }
}
