/** What a person may do in an organisation, from most to least. */
export const roles = ['owner', 'manager', 'member', 'read-only'] as const
export type Role = (typeof roles)[number]

/**
 * `view` sees everything but secrets; `edit` changes checks and integrations; `manage` changes projects, keys, people
 * and what is public; `own` deletes projects and makes owners.
 */
export type Right = 'view' | 'edit' | 'manage' | 'own'

const RIGHTS = {
  owner: ['view', 'edit', 'manage', 'own'],
  manager: ['view', 'edit', 'manage'],
  member: ['view', 'edit'],
  'read-only': ['view'],
} as const satisfies Record<Role, readonly Right[]>

export function may(role: Role, right: Right): boolean {
  const rights: readonly Right[] = RIGHTS[role]
  return rights.includes(right)
}

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text)
}

/** What each role means, in a sentence. */
export const roleMeanings: Readonly<Record<Role, string>> = {
  owner: 'everything, including deleting projects and choosing owners',
  manager: 'checks, integrations, keys, settings and people',
  member: 'checks and integrations',
  'read-only': 'looks, and changes nothing',
}

/** The form in which addresses are stored and compared; null when the text is not one plain address. */
export function normalEmail(text: string): string | null {
  const email = text.trim().toLowerCase()
  return email.length <= 254 &&
    /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u.test(email)
    ? email
    : null
}
