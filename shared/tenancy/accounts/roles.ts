/** In order of decreasing rights. */
export const roles = ['owner', 'manager', 'member', 'read-only'] as const
export type Role = (typeof roles)[number]

/**
 * `view` reads all but secrets; `edit` changes checks and integrations; `manage` changes projects, keys, people and
 * public pages; `own` deletes projects and appoints owners.
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

export const roleMeanings: Readonly<Record<Role, string>> = {
  owner: 'everything, including deleting projects and choosing owners',
  manager: 'checks, integrations, keys, settings and people',
  member: 'checks and integrations',
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
