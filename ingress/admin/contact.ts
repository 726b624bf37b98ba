import { CONTACT_KINDS, maskedAddress } from '#shared/monitoring/contacts/contact-kinds.ts'
import { isUsable } from '#shared/monitoring/contacts/contact-method.ts'
import {
  sendContactCode,
  verifyContactAsOperator,
  verifyContactMethod,
} from '#shared/monitoring/operations/contact-codes.ts'
import { listContactMethods } from '#shared/monitoring/operations/contact-config.ts'
import { addContactMethod, removeContactMethod } from '#shared/monitoring/operations/contacts.ts'
import { nowMicros } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import {
  type AdminContext,
  type Command,
  jsonObjectOf,
  lines,
  listing,
  type Options,
  operatorOf,
  storedOutbox,
  textOf,
  UsageError,
} from './command.ts'
import { requireUser } from './user.ts'

const emailOption = { description: 'address by which the person signs in', value: 'E', required: true } as const
const methodOption = { description: 'id of the contact method, from the list', value: 'ID', required: true } as const

const list: Command = {
  noun: 'contact',
  verb: 'list',
  summary: 'List the contact methods of a person; addresses are shortened',
  options: { email: emailOption },
  async run(options, { db, secrets, config }) {
    const user = await requireUser(options, db)
    const methods = (await listContactMethods(db, secrets, user.id)).map((method) => ({
      methodId: method.id,
      kind: method.kind,
      name: method.name,
      address: method.config === null ? '' : maskedAddress(method.kind, method.config),
      verified: method.isVerified,
      disabled: method.isDisabled,
      usable: isUsable(method, config),
      lastError: method.lastError,
    }))
    return listing(methods, ({ methodId, kind, name, address, verified, disabled, lastError }) => [
      methodId,
      kind.padEnd(10),
      address,
      name,
      verified ? '' : '(not verified)',
      disabled ? '(disabled)' : '',
      lastError,
    ])
  },
}

const add: Command = {
  noun: 'contact',
  verb: 'add',
  summary: 'Add a contact method to a person',
  options: {
    email: emailOption,
    kind: { description: `one of ${CONTACT_KINDS.join(', ')}`, value: 'KIND', required: true },
    config: {
      description: 'options of the kind as a JSON object, as for integrations; - reads it from standard input',
      value: 'JSON',
      required: true,
    },
    name: { description: 'what the person calls it', value: 'NAME' },
    verified: { description: 'vouch for the address; written to the audit log' },
  },
  async run(options, context) {
    const { db } = context
    const user = await requireUser(options, db)
    const kind = textOf(options, 'kind')
    const input = {
      userId: user.id,
      kind,
      name: typeof options.name === 'string' ? options.name : '',
      config: await jsonObjectOf(options, 'config'),
      via: null,
      recoveries: null,
      isVerified: options.verified === true,
    }
    const methodId = await addContactMethod(db, operatorOf(context), input, context)
    const added = { methodId, email: user.email, kind, verified: input.isVerified }
    return { json: added, text: lines(added) }
  },
}

const verify: Command = {
  noun: 'contact',
  verb: 'verify',
  summary: 'Send a code to a contact method, enter it with --code, or vouch for the address with --verified',
  options: {
    email: emailOption,
    method: methodOption,
    code: { description: 'code of six digits that the person received', value: 'CODE' },
    verified: { description: 'vouch for the address; written to the audit log' },
  },
  async run(options, context) {
    const { db, secrets } = context
    const own = await methodOf(options, context)
    const actor = operatorOf(context)
    if (options.verified) await verifyContactAsOperator(db, actor, own, secrets)
    else if (options.code !== undefined) {
      await verifyContactMethod(db, actor, { ...own, code: textOf(options, 'code') }, { secrets, now: nowMicros })
    } else {
      await sendContactCode(db, actor, own, { secrets, now: nowMicros, outbox: storedOutbox(db), replies: null })
      return { json: { methodId: own.id, sent: true }, text: 'A code is on its way. Enter it with --code.' }
    }
    return { json: { methodId: own.id, verified: true }, text: 'verified' }
  },
}

const remove: Command = {
  noun: 'contact',
  verb: 'delete',
  summary: 'Delete a contact method and its notification rules',
  options: { email: emailOption, method: methodOption },
  async run(options, context) {
    const own = await methodOf(options, context)
    await removeContactMethod(context.db, operatorOf(context), own, context)
    return { json: { methodId: own.id }, text: 'deleted' }
  },
}

async function methodOf(options: Options, { db }: AdminContext): Promise<{ userId: number; id: string }> {
  const user = await requireUser(options, db)
  const id = textOf(options, 'method')
  if (!isUuid(id)) throw new UsageError('--method is not an id; contact list shows all')
  return { userId: user.id, id }
}

export const contactCommands: readonly Command[] = [list, add, verify, remove]
