import { CallFailure } from './call-failure';
import { withIdentity, type IdentityTokens } from './identity-tokens';

const IDENTITY: IdentityTokens = {
  issuer: 'https://drawbridge.example.com/oidc/3fa85f64-5717-4562-b3fc-2c963f66afa6',
  subject: 'org:3fa85f64-5717-4562-b3fc-2c963f66afa6:credential:9b2f1c1e-6c55-4a53-9d2b-0a5f6c1f7f10',
  probeSubject: '',
  sign: () => Promise.reject(new Error('nothing is signed here')),
};

describe('A cloud’s refusal of a token', () => {
  it.each([10, 490, 5000])('of %s characters names issuer and subject in full', (length) => {
    const refusal = new CallFailure('denied', 'x'.repeat(length), 'AADSTS700213', true);
    const { message } = withIdentity(refusal, IDENTITY) as CallFailure;
    expect(message).toContain(IDENTITY.issuer);
    expect(message).toContain(IDENTITY.subject);
    expect(message.startsWith('xxxxxxxxxx')).toBe(true);
    expect(message.length).toBeLessThanOrEqual(500);
  });

  it('is the only error that does', () => {
    const error = new TypeError('a defect');
    expect(withIdentity(error, IDENTITY)).toBe(error);
  });
});
