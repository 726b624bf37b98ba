export const INK = {
  text: '#1b2430',
  quiet: '#55606c',
  rule: '#d3d9df',
  accent: '#17604f',
  warning: '#9a3412',
} as const
