import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import test from 'ava'
import { ROUTE_SEGMENTS } from '#shared/platform/process/public-url.ts'
import { createBaseRemover, jsonWithBase, pageWithBase, withBase } from '../../ingress/base-path.ts'
import { allRoutes } from '../fuzz/routes.ts'
import type { HttpProduct } from '../support/product.ts'
import { sharedProduct } from '../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

test('no path of PUBLIC_URL can begin with the first part of a route', (t) => {
  const other = ['/docs', '/livez', '/openapi.json', '/readyz']
  const paths = [...allRoutes(app.deps).map(({ path }) => path), ...other].filter((path) => path !== '/nothing')
  const first = new Set(paths.map((path) => path.split('/')[1] ?? '').filter((segment) => segment !== ''))
  t.deepEqual(ROUTE_SEGMENTS, [...first].sort(), 'change ROUTE_SEGMENTS of shared/platform/process/public-url.ts')
})

test('a request is routed without the path, which is removed once and only as a whole segment', (t) => {
  const remove = createBaseRemover('/hc')
  const routed = (url: string) => {
    const request = new IncomingMessage(new Socket())
    request.url = url
    return remove(request, new ServerResponse(request)) ? request.url : null
  }
  for (const [url, expected] of [
    ['/hc/', '/'],
    ['/hc/checks?tag=a', '/checks?tag=a'],
    ['/hc/hc/checks', '/hc/checks'],
    ['/checks', '/checks'],
    ['/hcx/checks', '/hcx/checks'],
    ['*', '*'],
    ['/hc', null],
    ['/hc?x', null],
    ['/hc/.well-known/jwt-vc-issuer', '/.well-known/jwt-vc-issuer'],
    ['/.well-known/jwt-vc-issuer/hc', '/.well-known/jwt-vc-issuer'],
    ['/.well-known/oauth-protected-resource/hc/mcp', '/.well-known/oauth-protected-resource/mcp'],
    ['/.well-known/jwt-vc-issuer/hcx', '/.well-known/jwt-vc-issuer/hcx'],
  ] as const)
    t.is(routed(url), expected, url)
})

test('the path is added to addresses from the root once, and to nothing else', (t) => {
  for (const [address, expected] of [
    ['/', '/hc/'],
    ['/checks', '/hc/checks'],
    ['/hc/checks', '/hc/checks'],
    ['/hcx', '/hc/hcx'],
    ['//other.example/', '//other.example/'],
    ['https://other.example/', 'https://other.example/'],
    ['#top', '#top'],
    ['?page=2', '?page=2'],
    ['', ''],
  ] as const)
    t.is(withBase('/hc', address), expected, address)
  t.is(withBase('', '/checks'), '/checks')
  const page = '<a href="/checks">&quot; href=&quot;/checks</a><input value="/checks"><form action="">'
  t.is(pageWithBase('/hc', page), page.replace('<a href="/checks', '<a href="/hc/checks'))
  t.is(
    jsonWithBase('/hc', '{"links":{"self":"/v1/a","evidence":"/v1/b"},"name":"\\"links\\":{\\"self\\":\\"/v1/a\\"}"}'),
    '{"links":{"self":"/hc/v1/a","evidence":"/hc/v1/b"},"name":"\\"links\\":{\\"self\\":\\"/v1/a\\"}"}',
  )
})
