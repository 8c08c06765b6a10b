import { Option, type Command } from 'commander';
import { type Call, define } from '../program';
import type { TokenOptions } from './identity';
import type { IpOptions } from './ip';
import type { CodeOptions } from './mfa';
import type { ApiOptions } from './raw-request';
import type { LoginOptions } from './sign-in-steps';

const passwordOptions = (): Option[] => [
  new Option('--url <url>', 'the server'),
  new Option('--email <address>', 'of your account'),
  new Option('--password-stdin', 'read the password from standard input'),
];

const codeOption = (): Option => new Option('--code-stdin', 'read the code from standard input');

/** Who asks, and what helps with everything. */
export function registerSignInCommands(program: Command): void {
  define(program, {
    usage: 'register',
    about: 'create an organization, sign in as its administrator, and remember that',
    examples: ['register --url https://drawbridge.example.com --organization Example'],
    options: [new Option('--organization <name>', 'what it is called'), ...passwordOptions()],
    run: async (call: Call<LoginOptions>) => (await import('./login.js')).register(call),
  });
  define(program, {
    usage: 'login',
    about: 'sign in, and remember it',
    examples: [
      'login --url https://drawbridge.example.com',
      'login --sso example',
      'login --api-key-stdin < key.txt',
    ],
    options: [
      ...passwordOptions(),
      new Option('--organization <slug>', 'when the same e-mail and password are in several'),
      new Option('--sso [organization]', 'with your account at the company, in a browser'),
      new Option('--provider <name>', 'when the organization has several identity providers'),
      new Option('--no-browser', 'show an address to open anywhere, and ask for the code that it shows'),
      new Option('--api-key-stdin', 'store an API key, read from standard input, instead'),
    ],
    run: async (call: Call<LoginOptions>) => (await import('./login.js')).login(call),
  });
  define(program, {
    usage: 'logout',
    about: 'end the sign-in, and forget it',
    examples: ['logout'],
    run: async (call: Call) => (await import('./login.js')).logout(call),
  });
  define(program, {
    usage: 'whoami',
    about: 'show who you are here, and on which server',
    examples: ['whoami'],
    run: async (call: Call) => (await import('./identity.js')).whoami(call),
  });
  registerMfaCommands(program);
  define(program, {
    usage: 'token',
    about: 'print an access token that is valid for five minutes at least, for other programs',
    examples: ['token', 'token --force'],
    options: [new Option('--force', 'also to a terminal')],
    run: async (call: Call<TokenOptions>) => (await import('./identity.js')).token(call),
  });
  define(program, {
    usage: 'api <method> <path>',
    about: 'send any request of the API as you, and print the answer',
    examples: [
      'api GET /sessions',
      `api PATCH /organization -d '{"name":"Example"}'`,
      'api POST /resources -d @resource.json',
    ],
    options: [
      new Option('-d, --data <json>', 'the body; @FILE reads it, - reads standard input (as without it)'),
    ],
    run: async (call: Call<ApiOptions>) => (await import('./raw-request.js')).api(call),
  });
  define(program, {
    usage: 'ip',
    about: 'show your addresses as the server observes them',
    examples: ['ip', 'ip --egress --output json'],
    options: [new Option('--egress', 'over several fresh connections: several addresses mean a NAT pool')],
    run: async (call: Call<IpOptions>) => (await import('./ip.js')).ip(call),
  });
  define(program, {
    usage: 'doctor',
    about: 'check everything between this machine and a session',
    examples: ['doctor'],
    run: async (call: Call) => (await import('./doctor.js')).doctor(call),
  });
  define(program, {
    usage: 'completion <shell>',
    about: 'print what makes a shell (bash, zsh or fish) complete commands',
    examples: [
      'completion bash >> ~/.bashrc',
      'completion zsh > "${fpath[1]}/_drawbridge"',
      'completion fish > ~/.config/fish/completions/drawbridge.fish',
    ],
    run: async (call: Call) => (await import('./completion.js')).completion(program, call),
  });
}

function registerMfaCommands(program: Command): void {
  const mfa = program.command('mfa').description('your second factor: an authenticator, and recovery codes');
  define(mfa, {
    usage: 'setup',
    about: 'turn it on: shows a QR code, asks for the first code, and prints the recovery codes',
    examples: ['mfa setup'],
    run: async (call: Call) => (await import('./mfa.js')).setUp(call),
  });
  define(mfa, {
    usage: 'off',
    about: 'turn it off; refused while your organization requires it',
    examples: ['mfa off'],
    options: [codeOption()],
    run: async (call: Call<CodeOptions>) => (await import('./mfa.js')).turnOff(call),
  });
  define(mfa, {
    usage: 'recovery-codes',
    about: 'print new recovery codes; the earlier ones no longer work',
    examples: ['mfa recovery-codes'],
    options: [codeOption()],
    run: async (call: Call<CodeOptions>) => (await import('./mfa.js')).renewRecoveryCodes(call),
  });
}
