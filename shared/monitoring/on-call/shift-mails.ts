import type { WrittenMail } from '../../tenancy/mails/mail.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { shortName } from '../notifications/text-parts.ts'
import { type Addressed, writtenMail } from '../reports/report-mail.ts'
import { wallTimeText } from './wall-time.ts'

type Recipient = Omit<Addressed, 'unsubscribe' | 'tz'>

interface Subject {
  name: string
  tz: string
  uuid: string
  projectUuid: string
}

/** For a person whose shifts were edited by others, or vanish with the schedule. */
export function changeMail(
  schedule: Subject,
  { added, removed }: { added: readonly WindowTime[]; removed: readonly WindowTime[] },
  to: Recipient,
  isDeleted = false,
): WrittenMail {
  const { name, tz } = schedule
  const lines = (list: readonly WindowTime[]) => list.slice(0, MAX_LINES).map((time) => ({ text: spanText(time, tz) }))
  return writtenMail(
    `Your shifts for ${shortName(name)} have changed`,
    'neutral',
    [
      { kind: 'text', text: `The schedule was ${isDeleted ? 'deleted' : 'edited'}. Times in ${tz}.` },
      { kind: 'list', title: 'You are now on call', lines: lines(added) },
      { kind: 'list', title: 'You are no longer on call', lines: lines(removed) },
      ...(isDeleted ? [] : [openSchedule(schedule, to)]),
    ],
    to,
  )
}

/** For owners and managers. */
export function gapMail(schedule: Subject, gaps: readonly WindowTime[], to: Recipient): WrittenMail {
  const { name, tz } = schedule
  const lines = gaps.slice(0, MAX_LINES).map((gap) => ({ text: spanText(gap, tz) }))
  return writtenMail(
    `No person will be on call for ${shortName(name)}`,
    'neutral',
    [
      { kind: 'text', text: `The schedule expects a person, but none is on call. Times in ${tz}.` },
      { kind: 'list', title: 'Coverage gaps', lines },
      openSchedule(schedule, to),
    ],
    to,
  )
}

const MAX_LINES = 50

function spanText({ from, until }: WindowTime, tz: string): string {
  return `${wallTimeText(from, tz)} to ${wallTimeText(until, tz)}`
}

function openSchedule({ projectUuid, uuid }: Subject, { publicUrl }: Recipient) {
  const url = `${publicUrl}/projects/${projectUuid}/on-call/${uuid}`
  return { kind: 'buttons', buttons: [{ label: 'Open the schedule', url }] } as const
}
