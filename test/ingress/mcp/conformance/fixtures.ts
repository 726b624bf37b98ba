import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { ForbiddenError } from '#shared/errors.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { refuseForeignOrigin } from '../../../../ingress/mcp/caller.ts'
import { answerMessage } from '../../../../ingress/mcp/transport.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

/**
 * Starts the transport on loopback without credentials, with the tools that the conformance suite calls. Only tests
 * can start it.
 */
export async function openConformanceServer(): Promise<AsyncDisposable & { url: string }> {
  const log = createLog('silent', 'conformance')
  let publicUrl = ''
  const server = createServer((request, response) => {
    const answer = async () => {
      if (request.method !== 'POST') return response.writeHead(405, { Allow: 'POST' }).end()
      refuseForeignOrigin(request, { publicUrl, mcpAllowedOrigins: [] })
      return await answerMessage(request, response, { serve: fixtures, log })
    }
    answer().catch((error: unknown) => response.writeHead(error instanceof ForbiddenError ? 403 : 500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${publicUrl}/mcp`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  }
}

function fixtures(): McpServer {
  const server = new McpServer({ name: 'conformance', version: '1.0.0' })
  const text = { type: 'text' as const, text: 'This is a simple text response for testing.' }
  const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' }
  const audio = { type: 'audio' as const, data: SILENCE, mimeType: 'audio/wav' }
  const resource = {
    type: 'resource' as const,
    resource: {
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    },
  }
  const mixed = { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data"}' }
  for (const [name, content] of [
    ['test_simple_text', [text]],
    ['test_image_content', [image]],
    ['test_audio_content', [audio]],
    ['test_embedded_resource', [resource]],
    [
      'test_multiple_content_types',
      [{ ...text, text: 'Multiple content types test:' }, image, { type: 'resource' as const, resource: mixed }],
    ],
  ] as const) {
    server.registerTool(name, { description: 'A fixture', inputSchema: z.object({}) }, () => ({
      content: [...content],
    }))
  }
  server.registerTool('test_error_handling', { description: 'A fixture', inputSchema: z.object({}) }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
  }))
  for (const [name, uri, content] of [
    [
      'text',
      'test://static-text',
      { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
    ],
    ['binary', 'test://static-binary', { mimeType: 'image/png', blob: PIXEL }],
  ] as const) {
    server.registerResource(name, uri, { mimeType: content.mimeType, description: 'A fixture' }, () => ({
      contents: [{ uri, ...content }],
    }))
  }
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json', description: 'A fixture' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  )
  return server
}
