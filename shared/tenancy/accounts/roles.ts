/** In order of decreasing rights. */
export const roles = ['owner', 'manager', 'member', 'responder', 'read-only'] as const
export type Role = (typeof roles)[number]

/**
 * `view` reads all but secrets; `respond` acts on incidents and may be on call; `edit` changes checks and integrations;
 * `manage` changes projects, keys, people and public pages; `own` deletes projects and appoints owners.
 */
export type Right = 'view' | 'respond' | 'edit' | 'manage' | 'own'

const RIGHTS = {
  owner: ['view', 'respond', 'edit', 'manage', 'own'],
  manager: ['view', 'respond', 'edit', 'manage'],
  member: ['view', 'respond', 'edit'],
  responder: ['view', 'respond'],
  'read-only': ['view'],
} as const satisfies Record<Role, readonly Right[]>

export function may(role: Role, right: Right): boolean {
  const rights: readonly Right[] = RIGHTS[role]
  return rights.includes(right)
}

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text)
}

export const roleMeanings: Readonly<Record<Role, string>> = {
  owner: 'everything, including deleting projects and choosing owners',
  manager: 'checks, integrations, keys, settings and people',
  member: 'checks and integrations',
  responder: 'read access, incidents and on-call shifts',
  'read-only': 'read access only',
}

/** Addresses are stored and compared in this form; null unless the text is one plain address. */
export function normalEmail(text: string): string | null {
  const email = text.trim().toLowerCase()
  return email.length <= 254 &&
    /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u.test(email)
    ? email
    : null
}
