import test from 'ava'
import { openBrowser } from '../../support/browser.ts'
import { freePort } from '../../support/free-port.ts'
import { send } from '../../support/send.ts'
import { addAuthenticator } from './authenticator.ts'
import { addAccount, password, sharedInstallation, signIn } from './installation.ts'

test.serial(
  'a passkey signs in without a password, each challenge works once, and a password alone does not sign in',
  async (t) => {
    const port = String(await freePort())
    const base = `http://localhost:${port}`
    // Passkeys do not work at an IP address, so a second listener is reached as localhost.
    const app = await sharedInstallation()
    await app.ingress(undefined, { PORT: port, PUBLIC_URL: base })
    const account = await addAccount(app)
    await using browser = await openBrowser()
    const page = await browser.context.newPage()
    await signIn(account, page, base)
    const { cdp, authenticatorId } = await addAuthenticator(page)

    await page.goto(`${base}/account`)
    await page.getByRole('link', { name: 'Manage second factor' }).click()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByLabel('Name of the new passkey').fill('Laptop')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('The passkey “Laptop” is added').waitFor()
    t.is((await page.getByRole('region', { name: 'your ten codes' }).textContent())?.split('\n').length, 10)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out').waitFor()
    const sent = page.waitForRequest((request) => request.url().endsWith('/sign-in/passkey'))
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Checks' }).waitFor()

    const request = await sent
    const cookie = (await browser.context.cookies(base)).find(({ name }) => name === 'signalbox-visit')
    const replayed = await send(`http://127.0.0.1:${port}`, '/sign-in/passkey', {
      method: 'POST',
      body: request.postData() ?? '',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: `signalbox-visit=${cookie?.value}`,
      },
    })
    t.is(replayed.status, 403, 'the challenge was used already')
    t.regex(replayed.text, /This passkey is unknown here/)

    // After the password, the next page requires the passkey or a recovery code.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('E-mail address').fill(account.email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
    t.true(await page.getByLabel('Recovery code').isVisible())

    // A user who has the device but fails user verification cannot sign in.
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('No passkey was used').waitFor()
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Checks' }).waitFor()
  },
)
