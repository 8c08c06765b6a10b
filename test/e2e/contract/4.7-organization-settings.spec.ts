import { audited, email, founder, PASSWORD, type Person } from '../../builders/accounts/people';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const PATH = '/organization/settings';

const DEFAULTS = {
  mfaRequired: false,
  passwordMinLength: 8,
  passwordRequireUppercase: true,
  passwordRequireLowercase: true,
  passwordRequireDigit: true,
  passwordRequireSpecialChar: false,
  passwordExpirationDays: null,
  requireDetectedAddress: false,
  reSignInGraceHours: 24,
  membershipReviewDays: null,
  staticRuleReviewDays: null,
  maxResourcesPerSession: null,
};

describe('4.7 Organization settings', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let own: Person;

  beforeEach(async () => {
    own = await founder(drawbridge);
  });

  const patch = (body: object): Promise<Answer> => own.client.patch(PATH, body);
  const settings = (): Promise<object> => own.client.expect(200, own.client.get<object>(PATH));

  describe('PATCH /organization/settings', () => {
    it('begins with the defaults, changes only given fields and returns all of them', async () => {
      expect(await settings()).toEqual(DEFAULTS);
      const first = await patch({ mfaRequired: true, passwordMinLength: 12 });
      expect(first).toMatchObject({ status: 200 });
      expect(first.body).toEqual({ ...DEFAULTS, mfaRequired: true, passwordMinLength: 12 });
      const rest = {
        passwordRequireUppercase: false,
        passwordRequireLowercase: false,
        passwordRequireDigit: false,
        passwordRequireSpecialChar: true,
        passwordExpirationDays: 90,
        requireDetectedAddress: true,
        reSignInGraceHours: 0,
        membershipReviewDays: 30,
        staticRuleReviewDays: 730,
        maxResourcesPerSession: 2000,
      };
      expect((await patch(rest)).body).toEqual({ mfaRequired: true, passwordMinLength: 12, ...rest });
      expect(await settings()).toEqual({ mfaRequired: true, passwordMinLength: 12, ...rest });
      expect((await patch({})).body).toEqual({ mfaRequired: true, passwordMinLength: 12, ...rest });
    });

    it('null makes passwords never expire', async () => {
      await own.client.expect(200, patch({ passwordExpirationDays: 30 }));
      expect((await patch({ passwordExpirationDays: null })).body).toEqual(DEFAULTS);
    });

    it.each([
      ['passwordMinLength', 8],
      ['passwordMinLength', 128],
      ['passwordExpirationDays', 1],
      ['passwordExpirationDays', 365],
      ['reSignInGraceHours', 72],
      ['membershipReviewDays', 30],
      ['staticRuleReviewDays', 730],
      ['maxResourcesPerSession', 1],
    ])('takes %s: %p, the edge of its range', async (field, value) => {
      expect(await patch({ [field]: value })).toMatchObject({ status: 200, body: { [field]: value } });
    });

    it.each([
      ['passwordMinLength', 7],
      ['passwordMinLength', 129],
      ['passwordMinLength', 8.5],
      ['passwordMinLength', null],
      ['reSignInGraceHours', -1],
      ['reSignInGraceHours', 73],
      ['reSignInGraceHours', null],
      ['mfaRequired', null],
      ['passwordRequireLowercase', null],
      ['requireDetectedAddress', null],
      ['passwordExpirationDays', 1.5],
    ])('refuses %s: %p with 400 BAD_REQUEST naming the field', async (field, value) => {
      expect(await patch({ [field]: value })).toMatchObject({
        status: 400,
        body: { error: 'BAD_REQUEST', message: expect.stringContaining(field) as string },
      });
      expect(await settings()).toEqual(DEFAULTS);
    });

    it.each([0, 366, 100_000_000_000])(
      'refuses passwordExpirationDays: %p with 422 UNPROCESSABLE_ENTITY naming the field',
      async (days) => {
        expect(await patch({ passwordExpirationDays: days, mfaRequired: true })).toMatchObject({
          status: 422,
          body: {
            error: 'UNPROCESSABLE_ENTITY',
            message: expect.stringContaining('passwordExpirationDays') as string,
          },
        });
        expect(await settings()).toEqual(DEFAULTS);
      },
    );

    it('a wrong type is reported before a wrong range: 400', async () => {
      expect((await patch({ passwordExpirationDays: 366, mfaRequired: 'x' })).status).toBe(400);
    });

    it('writes ORGANIZATION_SETTINGS_UPDATE with what changed, and nothing when nothing did', async () => {
      await own.client.expect(200, patch({ passwordMinLength: 12, mfaRequired: false }));
      await own.client.expect(200, patch({ passwordMinLength: 12 }));
      expect(await audited(drawbridge, own.organizationId, 'ORGANIZATION_SETTINGS_UPDATE')).toEqual([
        {
          eventType: 'ORGANIZATION_SETTINGS_UPDATE',
          actorType: 'USER',
          actorEmail: own.email,
          resourceId: own.organizationId,
          details: { changed: { passwordMinLength: { from: 8, to: 12 } } },
        },
      ]);
    });

    it('counts for passwords set afterwards: the old one still signs in', async () => {
      await own.client.expect(200, patch({ passwordMinLength: 100, passwordRequireSpecialChar: true }));
      const login = drawbridge.api.post('/auth/login', { email: own.email, password: PASSWORD });
      expect((await login).status).toBe(200);
      const added = await own.client.post('/users', { email: email(), password: PASSWORD });
      expect(added.status).toBe(400);
    });

    it('two changes at once both count', async () => {
      await Promise.all([patch({ passwordMinLength: 20 }), patch({ passwordExpirationDays: 7 })]);
      expect(await settings()).toEqual({ ...DEFAULTS, passwordMinLength: 20, passwordExpirationDays: 7 });
    });
  });

  describe('GET and PATCH /organization', () => {
    it('shows the organization, and renames it while its slug stays', async () => {
      const before = await own.client.expect(200, own.client.get<object>('/organization'));
      expect(before).toEqual({
        id: own.organizationId,
        name: 'Example',
        slug: own.organizationSlug,
        subscriptionTier: 'FREE',
        suspended: false,
        ssoRequired: false,
        recoveryAdministratorId: null,
        lockdown: null,
        ssoRedirectUri: `http://localhost:${drawbridge.apiServer.port}/api/v1/auth/sso/${own.organizationSlug}/callback`,
        createdAt: expect.any(String) as string,
        updatedAt: expect.any(String) as string,
      });
      const renamed = await own.client.patch('/organization', { name: '  New Name ', slug: 'x' });
      expect(renamed).toMatchObject({
        status: 200,
        body: { name: 'New Name', slug: own.organizationSlug, id: own.organizationId },
      });
      expect((await own.client.get('/organization')).body).toEqual(renamed.body);
      expect(await audited(drawbridge, own.organizationId, 'ORGANIZATION_UPDATED')).toMatchObject([
        { details: { changed: { name: { from: 'Example', to: 'New Name' } } } },
      ]);
    });

    it.each([null, '  ', 'x'.repeat(201)])('refuses the name %p with 400', async (name) => {
      expect(await own.client.patch('/organization', { name })).toMatchObject({
        status: 400,
        body: { validationErrors: { name: expect.any(String) as string } },
      });
    });
  });
});
