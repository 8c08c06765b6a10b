import { BILLING_DETAILS, Customer } from '../../builders/billing/billing';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.8 Billing', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  describe('GET and PATCH /organization/billing', () => {
    const NOTHING = Object.fromEntries(
      [
        'companyName',
        'billingContactName',
        'billingEmail',
        'billingAddressLine1',
        'billingAddressLine2',
        'billingCity',
        'billingPostalCode',
        'billingState',
        'billingCountry',
        'vatNumber',
      ].map((field) => [field, null]),
    );

    it('404 until it is configured, in the generic shape', async () => {
      const customer = await Customer.register(drawbridge);
      const answer = await customer.admin.get('/organization/billing');
      expect(answer).toMatchObject({
        status: 404,
        body: { status: 404, error: 'Not Found', path: '/api/v1/organization/billing' },
      });
    });

    it('PATCH changes what is given and answers with all fields; null empties one', async () => {
      const customer = await Customer.register(drawbridge);
      const patch = (body: object) =>
        customer.admin.expect(200, customer.admin.patch('/organization/billing', body));
      expect(await patch({ companyName: '  Example Ltd ' })).toEqual({
        ...NOTHING,
        companyName: 'Example Ltd',
      });
      const more = { vatNumber: 'DE123456789', billingState: 'BE' };
      expect(await patch(more)).toEqual({ ...NOTHING, companyName: 'Example Ltd', ...more });
      expect(await patch({ billingState: null })).toMatchObject({
        billingState: null,
        vatNumber: 'DE123456789',
      });
      expect(await customer.admin.expect(200, customer.admin.get('/organization/billing'))).toEqual({
        ...NOTHING,
        companyName: 'Example Ltd',
        vatNumber: 'DE123456789',
      });
    });

    it.each([
      ['billingEmail', 'nobody'],
      ['companyName', ''],
      ['companyName', 7],
      ['billingCountry', 'x'.repeat(201)],
    ])('400 with validationErrors for %s %j', async (field, value) => {
      const customer = await Customer.register(drawbridge);
      const answer = await customer.admin.patch('/organization/billing', { [field]: value });
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'Bad Request', validationErrors: { [field]: expect.any(String) as string } },
      });
    });

    it('is audited as BILLING_DETAILS_UPDATED, with the fields and without their values', async () => {
      const customer = await Customer.withDetails(drawbridge);
      const [record] = await customer.trail();
      expect(record).toMatchObject({
        eventType: 'BILLING_DETAILS_UPDATED',
        actorType: 'USER',
        details: { fields: Object.keys(BILLING_DETAILS) },
      });
      expect(JSON.stringify(record)).not.toContain(BILLING_DETAILS.billingEmail);
    });
  });
});
