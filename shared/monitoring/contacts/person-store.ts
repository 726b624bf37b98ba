/** Returns the name of a member by an address, in SQL; null if the address is not that of a member of the project. */
export function personName(address: string, projectId: string): string {
  return `(SELECT nullif(u.name, '') FROM users u JOIN memberships o ON o.user_id = u.id
    JOIN projects p ON p.organisation_id = o.organisation_id WHERE p.id = ${projectId} AND u.email = ${address})`
}
