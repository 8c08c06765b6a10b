import { emailForm } from './email-address';

describe('The one form of an e-mail address', () => {
  it.each([
    [' Ada@Example.COM ', 'ada@example.com'],
    ['ada@Bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
    ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
    ['jo\u0308rg@example.com', 'j\u00F6rg@example.com'],
    ['ada@127.1', 'ada@127.1'],
    ['ada@b\u00FC\u00ADcher.example', 'ada@b\u00FC\u00ADcher.example'],
    ['b\u00FCcher', 'b\u00FCcher'],
    ['ada@b\u00FC/c.example', 'ada@b\u00FC/c.example'],
  ])('of %j is %j', (given, form) => {
    expect(emailForm(given)).toBe(form);
    expect(emailForm(form)).toBe(form);
  });
});
