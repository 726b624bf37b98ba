import type { IncomingMessage } from 'node:http'
import { type JsonBody, type ParseLimits, parseInSteps, VALUES_PER_STEP } from '#shared/monitoring/checks/json-body.ts'
import { createTimeSlices } from '#shared/platform/process/time-slices.ts'
import { limitValues } from './body.ts'

/**
 * Parses a long JSON text of a request in turns, since others wait meanwhile.
 * @throws UnavailableError above the budget of the process
 */
export async function parseInTurns(request: IncomingMessage, raw: Buffer, limits: ParseLimits): Promise<JsonBody> {
  const turns = createTimeSlices()
  const parsing = parseInSteps(raw, limits)
  for (;;) {
    const step = parsing.next()
    if (step.done) return step.value
    limitValues(request, VALUES_PER_STEP)
    await turns.rest()
  }
}
