import { join } from 'node:path';
import ts from 'typescript';
import { asOrganizationId, type OrganizationId } from '#rules';
import type { TenantStore, Tx } from '#entities';

/** Checked by the compiler: an `@ts-expect-error` line that compiles is itself an error of `npm run lint`. */
class CarefulStore implements TenantStore<CarefulStore> {
  find(_tx: Tx, organization: OrganizationId, id: string): string {
    return `${organization} ${id}`;
  }
}

class ForgetfulStore implements TenantStore<ForgetfulStore> {
  // @ts-expect-error a method without an organization parameter
  find(_tx: Tx, id: string): string {
    return id;
  }

  // @ts-expect-error a method without parameters
  all(): string[] {
    return [];
  }
}

const ROOT = join(__dirname, '../..');

/** The lines of this file that the compiler refuses when `@ts-expect-error` is removed. */
function refusals(): string[] {
  const parsed = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => undefined,
    },
  )!;
  const host = ts.createCompilerHost(parsed.options);
  const source = host.getSourceFile.bind(host);
  host.getSourceFile = (name, options, ...more) =>
    name === __filename
      ? ts.createSourceFile(name, ts.sys.readFile(name)!.replaceAll('// @ts-expect-error', '//'), options)
      : source(name, options, ...more);
  const program = ts.createProgram([__filename], parsed.options, host);
  const file = program.getSourceFile(__filename)!;
  return program.getSemanticDiagnostics(file).map(({ start = 0 }) => {
    const { line } = file.getLineAndCharacterOfPosition(start);
    return file.text.split('\n')[line]!.trim();
  });
}

describe('Tenancy is enforced by types', () => {
  const tx = {} as Tx;

  it('a store method with an organization parameter compiles', () => {
    expect(new CarefulStore().find(tx, asOrganizationId('a'), 'b')).toBe('a b');
  });

  it('the compiler refuses a method without an organization, and a plain string as organization', () => {
    expect(refusals()).toEqual([
      'find(_tx: Tx, id: string): string {',
      'all(): string[] {',
      "new CarefulStore().find(tx, 'a', 'b');",
    ]);
  });

  it('the refused code would run', () => {
    // @ts-expect-error only authentication yields an OrganizationId
    new CarefulStore().find(tx, 'a', 'b');
    expect([new ForgetfulStore().find(tx, 'b'), new ForgetfulStore().all()]).toEqual(['b', []]);
  });
});
