import { z } from 'zod'
import { indianDay } from '#shared/risk/packs/money.ts'
import {
  agreesWithMask,
  comparableName,
  filled,
  foldNames,
  instantOf,
  keyedHash,
  listOf,
  maskedAccount,
  monthOfPeriod,
  paiseOf,
  parsed,
  Refusal,
  rupeesOf,
  unparseable,
} from '../rules.ts'

const text = z.string()
const amount = z.union([z.string(), z.number()])
const filing = z.enum(['MONTHLY', 'QUARTERLY'])

const heldAccount = z.object({
  pans: z.array(text),
  asOf: text.nullable(),
  account: z.object({
    type: text,
    maskedAccNumber: text,
    linkedAccRef: text,
    Summary: z.object({ currentBalance: text, type: text, facility: text.nullable() }),
    Transactions: z.object({
      startDate: text,
      endDate: text,
      Transaction: z.array(
        z.object({
          type: z.enum(['CREDIT', 'DEBIT']),
          amount: text,
          currentBalance: text,
          transactionTimestamp: text,
        }),
      ),
    }),
  }),
})
const heldReturns = z.object({
  masked: text,
  nameHash: text,
  gstr1: z.array(
    z.object({
      month: text,
      filing,
      rows: z.array(z.object({ ctin: text, inum: text, idt: text, val: text, irn: text.nullable() })),
    }),
  ),
  gstr3b: z.array(z.object({ month: text, filing, value: text })),
})
const codeOnly = z.object({ code: z.literal('UNPARSEABLE'), member: text.optional() })

/** Members of the contract that are kept from one delivery. Names, addresses and narrations are dropped. */
export const heldSchema = z.object({
  fetchedAt: z.number(),
  until: z.number(),
  upstream: z.array(z.object({ host: text, status: z.number(), sha256: text, at: text })),
  hasUndelivered: z.boolean(),
  deposits: z.union([z.array(heldAccount), codeOnly]),
  returns: z.union([z.array(heldReturns), codeOnly]),
})

export type Held = z.infer<typeof heldSchema>
export type HeldAccount = z.infer<typeof heldAccount>
export type HeldReturns = z.infer<typeof heldReturns>

const delivered = z.object({
  fips: listOf(
    z.object({
      accounts: listOf(
        z.object({
          linkrefnumber: text.nullish(),
          maskedaccnumber: text.nullish(),
          fistatus: text.optional(),
          status: text.optional(),
          data: z.unknown(),
        }),
      ),
    }),
  ),
})
type Entry = z.output<typeof delivered>['fips'][number]['accounts'][number]

/** Statuses of an account after which nothing more arrives. */
const UNDELIVERED = ['DENIED', 'TIMEOUT', 'FAILED', 'EXPIRED']

/** Returns true if an account of a partial delivery may still arrive. */
export function isWaiting(session: unknown): boolean {
  return entriesOf(session).some((entry) => !['DELIVERED', ...UNDELIVERED].includes(statusOf(entry)))
}

/** Reads one delivery into the members that are kept. */
export function readDelivery(
  session: unknown,
  range: { from: string; to: string },
  hashKey: Buffer,
): Pick<Held, 'hasUndelivered' | 'deposits' | 'returns'> {
  const entries = entriesOf(session)
  const arrived = entries.filter((entry) => statusOf(entry) === 'DELIVERED')
  const accounts = arrived.map((entry) => ({ entry, root: rootOf(entry.data) }))
  const ofType = (type: string) => accounts.filter(({ root }) => root.type.toLowerCase() === type)
  return {
    hasUndelivered: arrived.length < entries.length,
    deposits: orCode(() => ofType('deposit').map(({ entry, root }) => depositOf(entry, root, range))),
    returns: orCode(() => ofType('gstr1_3b').map(({ root }) => returnsOf(root, hashKey))),
  }
}

function orCode<T>(read: () => T): T | z.output<typeof codeOnly> {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'UNPARSEABLE')) throw error
    return { code: 'UNPARSEABLE', ...(error.member !== undefined && { member: error.member }) }
  }
}

function entriesOf(session: unknown): Entry[] {
  return parsed(delivered, foldNames(session)).fips.flatMap(({ accounts }) => accounts)
}

function statusOf({ fistatus, status }: Entry): string {
  return (fistatus ?? status ?? '').toUpperCase()
}

const typed = z.looseObject({ type: text })

/** Returns the account, which one published example wraps and another one does not. */
function rootOf(data: unknown): z.output<typeof typed> {
  const wrapped = z.object({ account: typed }).safeParse(data)
  return wrapped.success ? wrapped.data.account : parsed(typed, data)
}

const deposit = z.object({
  maskedaccnumber: filled.optional(),
  linkedaccref: filled.optional(),
  profile: z.object({ holders: z.object({ holder: listOf(z.object({ pan: text.nullish() })) }) }),
  summary: z.object({
    currentbalance: amount,
    currency: text.nullish(),
    balancedatetime: text.nullish(),
    accountsubtype: text.optional(),
    type: text.optional(),
    facility: text.nullish(),
    currentodlimit: amount.nullish(),
    drawinglimit: amount.nullish(),
  }),
  transactions: z.object({
    startdate: text.nullish(),
    enddate: text.nullish(),
    transaction: listOf(
      z.object({
        type: text,
        amount,
        transactionalbalance: amount.optional(),
        currentbalance: amount.optional(),
        transactiontimestamp: text,
      }),
    ),
  }),
})

function depositOf(entry: Entry, root: unknown, range: { from: string; to: string }): HeldAccount {
  const { profile, summary, transactions, ...account } = parsed(deposit, root)
  const number = account.maskedaccnumber ?? entry.maskedaccnumber ?? ''
  const ref = account.linkedaccref ?? entry.linkrefnumber ?? ''
  const type = (summary.accountsubtype ?? summary.type ?? '').trim().toUpperCase()
  // Amounts of the contract are rupees.
  if (number === '' || ref === '') throw unparseable('linkedaccref')
  if (type === '' || (summary.currency ?? 'INR') !== 'INR') throw unparseable('summary.type or currency')
  const day = (given: string | null | undefined, end: string) => given?.slice(0, 10) || indianDay(Date.parse(end))
  return {
    pans: profile.holders.holder.flatMap(({ pan }) => (pan ? [pan.trim().toUpperCase()] : [])),
    asOf: summary.balancedatetime ? instantOf(summary.balancedatetime, 'summary.balancedatetime') : null,
    account: {
      type: 'deposit',
      maskedAccNumber: maskedAccount(number),
      linkedAccRef: ref,
      Summary: {
        currentBalance: exact(summary.currentbalance, 'summary.currentbalance'),
        type,
        facility: facilityOf(summary),
      },
      Transactions: {
        startDate: day(transactions.startdate, range.from),
        endDate: day(transactions.enddate, range.to),
        Transaction: transactions.transaction.map((row) => {
          const kind = row.type.toUpperCase()
          if (kind !== 'CREDIT' && kind !== 'DEBIT') throw unparseable('transaction.type')
          instantOf(row.transactiontimestamp, 'transaction.transactiontimestamp')
          return {
            type: kind,
            amount: exact(row.amount, 'transaction.amount'),
            currentBalance: exact(row.transactionalbalance ?? row.currentbalance, 'transaction.currentbalance'),
            transactionTimestamp: row.transactiontimestamp,
          }
        }),
      },
    },
  }
}

/** Published examples show a savings account with the facility OD and limits of 0, which is no overdraft. */
function facilityOf(summary: z.output<typeof deposit>['summary']): string | null {
  const facility = summary.facility?.trim().toUpperCase()
  if (facility !== 'OD' && facility !== 'CC') return null
  const limits = [summary.currentodlimit, summary.drawinglimit]
  return limits.every((limit) => limit !== null && limit !== undefined && paiseOf(limit) === 0) ? null : facility
}

/** Keeps the text of an amount that has at most two decimals. */
function exact(value: unknown, member: string): string {
  const paise = paiseOf(value, member)
  return typeof value === 'string' && /^-?[0-9]+(\.[0-9]{1,2})?$/.test(value) ? value : rupeesOf(paise)
}

const part = z.object({ txval: amount }).optional()
const gstReturns = z.object({
  maskedgstinnumber: filled,
  profile: z.object({ businessdetails: z.object({ lgnm: filled }) }),
  transactions: z.object({
    gstr1details: z
      .object({
        gstr1: listOf(
          z.object({
            retprd: text,
            filingfrequency: text,
            b2bdtls: z
              .object({
                b2b: listOf(z.object({ ctin: filled, inum: filled, idt: filled, val: amount, irn: text.nullish() })),
              })
              .nullish(),
          }),
        ),
      })
      .nullish(),
    gstr3bdetails: z
      .object({
        gstr3b: listOf(
          z.object({
            retprd: text,
            filingfrequency: text,
            supdetails: z.object({ osupdet: part, osupzero: part, osupnilexmp: part }),
          }),
        ),
      })
      .nullish(),
  }),
})

function returnsOf(root: unknown, hashKey: Buffer): HeldReturns {
  const { maskedgstinnumber, profile, transactions } = parsed(gstReturns, root)
  const nameHash = keyedHash(hashKey, 'name', comparableName(profile.businessdetails.lgnm))
  if (nameHash === null) throw unparseable()
  const gstr1 = (transactions.gstr1details?.gstr1 ?? []).map((period) => ({
    month: monthOfPeriod(period.retprd, 'retprd'),
    filing: frequencyOf(period.filingfrequency),
    rows: (period.b2bdtls?.b2b ?? []).map(({ ctin, inum, idt, val, irn }) => ({
      ctin,
      inum,
      idt,
      val: exact(val, 'gstr1.b2bdtls.b2b.val'),
      irn: irn || null,
    })),
  }))
  const gstr3b = (transactions.gstr3bdetails?.gstr3b ?? []).map(({ supdetails, ...period }) => {
    const parts = [supdetails.osupdet, supdetails.osupzero, supdetails.osupnilexmp]
    const paise = parts.reduce((sum, one) => sum + (one ? paiseOf(one.txval, 'gstr3b.supdetails.txval') : 0), 0)
    if (!Number.isSafeInteger(paise)) throw unparseable()
    return {
      month: monthOfPeriod(period.retprd, 'retprd'),
      filing: frequencyOf(period.filingfrequency),
      value: rupeesOf(paise),
    }
  })
  for (const periods of [gstr1, gstr3b]) {
    if (new Set(periods.map(({ month }) => month)).size < periods.length) throw unparseable()
  }
  return { masked: maskedgstinnumber, nameHash, gstr1, gstr3b }
}

function frequencyOf(word: string): 'MONTHLY' | 'QUARTERLY' {
  return parsed(filing, word.trim().toUpperCase())
}

/** Returns the returns of a registration. @throws Refusal UNPARSEABLE if two fit its mask */
export function returnsFor(list: readonly HeldReturns[], gstin: string): HeldReturns | undefined {
  const fitting = list.filter(({ masked }) => agreesWithMask(masked, gstin))
  if (fitting.length > 1) throw unparseable()
  return fitting[0]
}
