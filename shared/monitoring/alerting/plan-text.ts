import type { Plan, Step } from './policy.ts'

/** The plan of a policy in words: `at once: Ops chat, again every hour; after 15 min: Phone Anna`. @param nameOf by uuid */
export function planText(plan: Plan, nameOf: (uuid: string) => string): string {
  let offset = 0
  return plan.steps
    .map((step) => {
      offset += step.wait
      return `${offset === 0 ? 'at once' : `after ${spanText(offset)}`}: ${stepText(step, nameOf)}`
    })
    .join('; ')
}

function stepText({ channels, repeat, severity, hours, outside }: Step, nameOf: (uuid: string) => string): string {
  const whom = channels === null ? "the check's own integrations" : channels.map(nameOf).join(', ') || 'nobody'
  const again = repeat ? `, again every ${intervalText(repeat.every)}` : ''
  const times = repeat?.times ? `, ${repeat.times} times` : ''
  const bad = severity === 'info' ? '' : `, if ${severity}${severity === 'warning' ? ' or worse' : ''}`
  const when = hours.length === 0 ? '' : `, in its hours (else ${outside === 'wait' ? 'suppressed' : 'left out'})`
  return `${whom}${again}${times}${bad}${when}`
}

/** After “every”: `hour`, `2 h`. */
function intervalText(seconds: number): string {
  if (seconds === 86_400) return 'day'
  if (seconds === 3600) return 'hour'
  return seconds === 60 ? 'minute' : spanText(seconds)
}

/** `15 min`, `2 h`, `1 day`, `90 s`: the largest unit that leaves nothing over. */
function spanText(seconds: number): string {
  if (seconds > 0 && seconds % 86_400 === 0) return seconds === 86_400 ? '1 day' : `${seconds / 86_400} days`
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600} h`
  if (seconds > 0 && seconds % 60 === 0) return `${seconds / 60} min`
  return `${seconds} s`
}
