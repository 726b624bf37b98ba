/** A member of a contract as people read it: `legalName` is `legal name`, `gstin` is `GSTIN`. */
export function fieldLabels(name: string): string {
  return name
    .replaceAll(/(?<=[a-z])(?=[A-Z])|_/g, ' ')
    .toLowerCase()
    .replaceAll(/\b(?:gstin|pan|cin|lei|llpin|din|id)\b/g, (code) => code.toUpperCase())
}
