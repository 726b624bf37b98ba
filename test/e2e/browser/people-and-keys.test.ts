import test from 'ava'
import { openBrowser } from '../../support/browser.ts'
import { addAccount, password, sharedInstallation, signIn } from './installation.ts'
import { axeProblems, ONE_LOOK_A_LAYOUT } from './page-problems.ts'

test.serial('a key is shown once, works, and stops working when it is revoked', async (t) => {
  const account = await addAccount(await sharedInstallation())
  const { app } = account
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  await signIn(account, page)
  await page.goto(app.url)
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByLabel('Purpose of the new key').fill('Deploys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = (await page.locator('.secret-once .copyable code').textContent()) ?? ''
  t.is(key.length, 32)
  const ask = () => fetch(`${app.url}/api/v3/checks/`, { headers: { 'X-Api-Key': key } })
  t.is((await ask()).status, 200)
  await page.reload()
  const row = page.getByRole('row').filter({ hasText: 'Deploys' })
  t.regex((await row.textContent()) ?? '', /DeploysRead and write.*by ada-\d+@example\.com/)
  t.is(await page.getByRole('button', { name: /^Revoke key/ }).count(), 1, 'loading the page again makes no other key')
  await page.getByRole('button', { name: `Rotate key ${key.slice(0, 8)}` }).click()
  await page.getByText('still works. Use the new key').waitFor()
  t.deepEqual(await axeProblems(page, ONE_LOOK_A_LAYOUT), [])
  await page.goto(page.url())
  t.false((await page.content()).includes(key), 'it is shown once')
  await page.getByRole('button', { name: `Revoke key ${key.slice(0, 8)}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('The key is revoked').waitFor()
  t.is(await page.getByRole('button', { name: /^Revoke key/ }).count(), 1, 'the new key stays')
})

test.serial('an invited viewer signs in and gets no controls for changes', async (t) => {
  const account = await addAccount(await sharedInstallation())
  await using mine = await openBrowser()
  const owner = await mine.context.newPage()
  await signIn(account, owner)
  await owner.goto(account.app.url)
  await owner.getByRole('link', { name: 'Add the first check' }).click()
  await owner.getByLabel('Name', { exact: true }).fill('Job')
  await owner.getByRole('button', { name: 'Create check' }).click()
  await owner.getByRole('link', { name: 'People' }).click()
  await owner.getByLabel('E-mail address').fill('grace@example.com')
  await owner.getByLabel('Role', { exact: true }).selectOption('read-only')
  await owner.getByRole('button', { name: 'Invite' }).click()
  const link = (await owner.locator('.secret-once code').textContent()) ?? ''

  await using theirs = await openBrowser()
  const guest = await theirs.context.newPage()
  await guest.goto(link)
  await guest.getByLabel('Your name').fill('Grace Guest')
  await guest.getByLabel('Password').fill(password)
  await guest.getByRole('button', { name: 'Create the account and join' }).click()
  await guest.getByRole('link', { name: 'My project' }).click()
  await guest.getByRole('link', { name: 'Job', exact: true }).click()
  await guest.getByText('Waiting for its first ping').waitFor()
  for (const name of ['Edit', 'Keys', 'Settings', 'Audit log']) t.is(await guest.getByRole('link', { name }).count(), 0)
  for (const name of ['Pause', 'Delete check']) t.is(await guest.getByRole('button', { name }).count(), 0)

  // A better role counts at once, without signing in again.
  await owner.getByRole('link', { name: 'People' }).click()
  await owner.getByLabel('Role of grace@example.com').selectOption('member')
  await owner.getByRole('button', { name: 'Change' }).click()
  await owner.getByText('The role is changed').waitFor()
  await guest.reload()
  await guest.getByRole('link', { name: 'Edit' }).waitFor()
  await owner.getByRole('link', { name: 'Audit log' }).click()
  await owner.getByText('changed the role of a member').waitFor()
  await owner.getByText('accepted an invitation').waitFor()
})
