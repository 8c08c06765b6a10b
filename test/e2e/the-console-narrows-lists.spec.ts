import { founder } from '../builders/accounts/people';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

describeInBrowser('The console narrows lists', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const site = TestConsole.of(drawbridge);

  const at = async (path: string): Promise<Visitor> => site.signedIn(await founder(drawbridge), path);

  it('to a time, shown as the clock on the wall has it, which stays when another one is added', async () => {
    const from = '2026-01-31T08:30:00.000Z';
    const visitor = await at(`/history?from=${from}`);
    const inBerlin = (): Promise<string> => visitor.page.getByLabel('From').inputValue();
    expect(await inBerlin()).toBe('2026-01-31T09:30');
    await visitor.page.getByLabel('To').fill('2026-02-01T09:30');
    await visitor.press('Enter');
    await visitor.page.waitForURL(/to=2026-02-01T08/);
    expect(new URL(visitor.page.url()).searchParams.get('from')).toBe(from);
    expect(await inBerlin()).toBe('2026-01-31T09:30');
  });

  it('to a time in UTC, in which all times are shown and entered then, also on the next visit', async () => {
    const from = '2026-01-31T08:30:00.000Z';
    const visitor = await at(`/audit?from=${from}`);
    const { page } = visitor;
    const newest = page.getByRole('row').nth(1).locator('time');
    const shown = async (): Promise<string> => (await newest.innerText()).replaceAll(/\D+/g, ' ');
    const utc = (await newest.getAttribute('datetime'))!.slice(11, 19).replaceAll(':', ' ');
    expect(await shown()).not.toContain(utc);
    await page.getByRole('row').nth(1).getByText('Signed in', { exact: true }).waitFor();
    await page.getByRole('main').getByText('Times in Europe/Berlin').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Show UTC' }).click();
    expect(await page.getByLabel('From').inputValue()).toBe('2026-01-31T08:30');
    await page.reload();
    await newest.waitFor();
    expect(await shown()).toContain(utc);
    await page.getByLabel('To').fill('2030-01-31T08:30');
    await visitor.press('Enter');
    await page.waitForURL(/to=2030-01-31T08/);
    expect(new URL(page.url()).searchParams.get('from')).toBe(from);
  });
});
