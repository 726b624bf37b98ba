/**
 * Who asks for an operation. The door that lets somebody in makes it of what it has verified; operations trust it and
 * pass it to the audit log. What the actor may do is decided before, at the door.
 */
export type Actor =
  /** a program with a key of a project; the label is what people call the key, else how it begins */
  | { kind: 'key'; id: number; label: string; owner: string; address: string }
  /** a program with the credentials of an organisation's client */
  | { kind: 'client'; id: string; owner: string; address: string }
  /** somebody who is signed in */
  | { kind: 'person'; userId: number; email: string; address: string }
  /** a tool of a language model, with a key of its own */
  | { kind: 'agent'; id: string; name: string; address: string }
  /** whoever holds the signed link of a message, by the integration that it was sent through */
  | { kind: 'link'; through: string; address: string }
  /** whoever holds the signed link of a mail, without being signed in */
  | { kind: 'recipient'; address: string }
  /** whoever runs commands on the machine, by the name of their account there */
  | { kind: 'operator'; name: string }

/** How entries of the audit log name an actor. An operator's command comes from no address. */
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
