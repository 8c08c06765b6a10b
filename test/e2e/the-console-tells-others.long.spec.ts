import { founder } from '../builders/accounts/people';
import { describeInBrowser } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';
import { verify, WebhookReceiver } from '../harness/receivers/webhook-receiver';

describeInBrowser('The console tells others', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
  });
  afterAll(() => receiver.stop());

  it('with a webhook that is tested, fails, and is sent again what failed', async () => {
    const visitor = await site.signedIn(await founder(drawbridge), '/webhooks');
    const { page } = visitor;
    await visitor.click('link', 'Create the first one');
    await visitor.fill('URL', 'http://10.0.0.1/');
    await page.getByLabel('Search: Events').fill(' Role cr ');
    await page.getByRole('checkbox').check();
    await visitor.click('button', 'Create the webhook');
    await visitor.shows('URL leads to an address that this deployment lets no webhook lead to');
    visitor.forget();
    await visitor.fill('URL', receiver.url('/told'));
    await visitor.click('button', 'Create the webhook');
    const secret = await page.getByRole('region', { name: 'Secret', exact: true }).innerText();
    await visitor.click('button', 'I have copied it');
    await visitor.click('button', 'Send a test');
    await visitor.shows('The test was delivered: the receiver answered 200.');
    const [test] = receiver.at('/told');
    expect(verify(secret, test!)).toMatchObject({ type: 'WEBHOOK_TESTED' });

    const newest = page.getByRole('row').nth(1);
    const again = newest.getByRole('button', { name: 'Send again' });
    receiver.behaviours.set('/told', 500);
    await again.click();
    await newest.getByText('it answered 500').waitFor();
    await visitor.shows('Failing');
    receiver.behaviours.clear();
    await again.click();
    await newest.getByText('Delivered').waitFor();
    await visitor.shows('Enabled');
    expect(receiver.at('/told').map(({ id }) => id)).toEqual([test!.id, test!.id, test!.id]);
    expect(visitor.complaints).toEqual([]);

    const named = async (name: string): Promise<void> => {
      await visitor.click('button', 'Change');
      await visitor.fill('Name', name);
      await visitor.click('button', 'Save');
      const title = name === '' ? /^Webhook to 127\.0\.0\.1/ : name;
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
    };
    await named('Night shift');
    await visitor.click('button', 'Delete');
    await visitor.shows('Delete the webhook “Night shift”?');
    await visitor.click('button', 'Cancel');
    await named('');
    await named('Day shift');
    await visitor.goto('/webhooks');
    await page.getByRole('row', { name: 'Day shift' }).getByText(receiver.url('/told')).waitFor();
  });
});
