import type { Socket } from 'node:net'
import type { SMTPServer, SMTPServerSession } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'

/** Maximum lifetime of a connection, also for senders that send single bytes. */
const LIFETIME_MS = 10 * 60_000
/** If the lifetime ends while a mail is processed, its response is sent first. */
const GRACE_MS = 10_000
/** Closes the connection after this many refused recipients, because the sender is guessing addresses. */
const MAX_REFUSALS = 100
/** Passed to the library instead of the sender's address, which it could refuse. */
const SOME_ADDRESS = 'sender@invalid'
const MAX_GREETING_LENGTH = 255
/** Control characters, which are replaced or removed in texts that quote the sender. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it must match control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g

export class PingConnection extends SMTPConnection {
  #refusals = 0

  constructor(
    server: SMTPServer,
    socket: Socket,
    options: SMTPConnectionOptions | null | undefined,
    isProcessing: (session: SMTPServerSession) => boolean,
  ) {
    super(server, socket, options)
    const end = () => {
      if (isProcessing(this.session)) timer = setTimeout(end, GRACE_MS).unref()
      else this.send(421, 'The connection was open for too long')
    }
    let timer = setTimeout(end, LIFETIME_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const isAccepted = context === 'MAIL_FROM_OK' || context === 'RCPT_TO_OK'
    super.send(code, isAccepted ? 'OK' : data, context)
    if (code !== 550) return
    this.#refusals += 1
    if (this.#refusals === MAX_REFUSALS) super.send(421, 'Too many rejected recipients')
  }

  /** Any greeting name is accepted and ignored. */
  override handler_EHLO(command: Buffer, callback: () => void): void {
    super.handler_EHLO(withOneName(command), callback)
  }

  override handler_HELO(command: Buffer, callback: () => void): void {
    super.handler_HELO(withOneName(command), callback)
  }

  /** Any sender is accepted: its address is only part of the ping's text. */
  override _parseAddressCommand(...[name, command]: Parameters<SMTPConnection['_parseAddressCommand']>) {
    const parsed = super._parseAddressCommand(name, command)
    if (parsed || !isCommand(command, name)) return parsed
    const given = readAddressCommand(command.toString())
    if (!given) return false
    if (name !== 'mail from') return super._parseAddressCommand(name, `RCPT TO:<${given.address}>`)
    const sender = super._parseAddressCommand(name, `MAIL FROM:<${SOME_ADDRESS}> ${given.parameters}`)
    return sender && { ...sender, address: given.address.replace(CONTROL, ' ') }
  }

  /** Refuses a recipient with an invalid address as unknown, not as a syntax error. */
  override handler_RCPT(command: Buffer, callback: () => void): void {
    const isAddressed = isCommand(command, 'rcpt to') && readAddressCommand(command.toString()) !== null
    if (this.session.envelope.mailFrom && isAddressed && !this._parseAddressCommand('rcpt to', command)) {
      this.send(550, '5.1.1 Recipient rejected')
      callback()
      return
    }
    super.handler_RCPT(command, callback)
  }
}

function isCommand(command: Buffer | string, name: string): boolean {
  return command.toString().split(':', 1)[0]?.trim().toLowerCase() === name
}

/** Returns the greeting with one word after the command; a command without a word remains a syntax error. */
function withOneName(command: Buffer): Buffer {
  const [verb = '', ...words] = command.toString().trim().split(/\s+/)
  if (words.length === 0) return command
  const name = words.join('-').replace(CONTROL, '').slice(0, MAX_GREETING_LENGTH) || 'unknown'
  return Buffer.from(`${verb} ${name}`)
}

interface AddressCommand {
  /** without angle brackets and the blanks inside them */
  address: string
  /** ESMTP parameters, unchanged */
  parameters: string
}

/**
 * Parses an address command as common senders write it: with or without angle brackets, with blanks around and inside
 * the address, with quoted local parts.
 * @returns null if the command names no address, not even `<>`
 */
function readAddressCommand(command: string): AddressCommand | null {
  const colon = command.indexOf(':')
  const rest = command.slice(colon + 1).trim()
  if (colon === -1 || rest === '') return null
  const [, inner, after] = /^<((?:"(?:[^"\\]|\\.)*"|[^">])*)>(.*)$/s.exec(rest) ?? []
  if (inner !== undefined && after !== undefined) return { address: inner.trim(), parameters: after.trim() }
  const words = rest.split(/\s+/)
  // Parameters come last: a keyword, or a keyword with a value.
  const first = words.findIndex((word, index) => index > 0 && /^(?:[a-z0-9-]+=\S*|SMTPUTF8|REQUIRETLS)$/i.test(word))
  const addressText = first === -1 ? words : words.slice(0, first)
  const parameters = first === -1 ? [] : words.slice(first)
  return { address: addressText.join(' ').replace(/^<|>$/g, '').trim(), parameters: parameters.join(' ') }
}
