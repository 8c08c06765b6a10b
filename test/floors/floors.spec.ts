import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

interface Cruise {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

/** @returns `file: rule` for each rule that was broken; none when the floors hold */
function brokenRules(...places: string[]): string[] {
  const command = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const given = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...places];
  const printed = execFileSync(process.execPath, [command, ...given], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { summary } = JSON.parse(printed) as Cruise;
  return summary.violations.map(({ from, rule }) => `${from}: ${rule.name}`);
}

describe('Imports go down the floors only', () => {
  it('everywhere in the repository', () => {
    expect(brokenRules('apps', 'libs', 'test')).toEqual([]);
  });

  // beside src: a build at the same time does not see them
  it('and each rule catches the import planted for it', () => {
    const planted = [
      { place: 'libs/rules', source: `import '#config';`, rule: 'ground-floor-rests-on-nothing' },
      { place: 'libs/rules', source: `import 'node:fs';`, rule: 'rules-are-pure' },
      { place: 'libs/jobs', source: `import '#entities';`, rule: 'libs-rest-on-the-ground-floor-only' },
      {
        place: 'apps/api',
        source: `import '../../worker/src/worker.settings';`,
        rule: 'apps-never-rest-on-each-other',
      },
      {
        place: 'apps/api',
        source: `import '../../../libs/entities/src/database';`,
        rule: 'libs-are-entered-by-their-index',
      },
      { place: 'apps/agent', source: `import '#drivers';`, rule: 'the-agent-travels-light' },
      { place: 'apps/agent', source: `import 'pg';`, rule: 'the-agent-travels-light' },
      { place: 'apps/worker', source: `import 'typeorm';`, rule: 'typeorm-stays-home' },
      { place: 'apps/api', source: `import 'bullmq';`, rule: 'bullmq-stays-home' },
      { place: 'libs/drivers', source: `import '@aws-sdk/client-ec2';`, rule: 'aws-sdk-stays-home' },
      {
        place: 'libs/drivers',
        source: `import '../src/aws/aws.facts';`,
        rule: 'providers-know-nothing-of-each-other',
      },
      { place: 'apps/api', source: `import 'bcrypt';`, rule: 'bcrypt-stays-home' },
      { place: 'apps/api', source: `import 'pg';`, rule: 'pg-stays-home' },
      { place: 'libs/drivers', source: `import 'ioredis';`, rule: 'ioredis-stays-home' },
      { place: 'libs/drivers', source: `import '@nestjs/common';`, rule: 'libs-know-no-framework' },
      { place: 'apps/api', source: `import 'stripe';`, rule: 'stripe-stays-home' },
      { place: 'apps/worker', source: `import 'nodemailer';`, rule: 'nodemailer-stays-home' },
      {
        place: 'libs/tenant-store',
        source: `import '#engine-store';`,
        rule: 'tenant-store-reaches-the-engine-by-its-port',
      },
      { place: 'libs/engine', source: `import '#tenant-store';`, rule: 'the-engine-knows-no-tenant-query' },
      { place: 'apps/api', source: `import '#engine';`, rule: 'the-api-reaches-the-engine-by-its-port' },
    ].map(({ place, source, rule }) => {
      const folder = mkdtempSync(join(ROOT, place, 'planted-'));
      writeFileSync(join(folder, 'planted.ts'), `${source}\n`);
      return { folder: folder.slice(ROOT.length + 1), rule };
    });
    try {
      const broken = brokenRules(...planted.map(({ folder }) => folder));
      expect(broken).toEqual(
        expect.arrayContaining(planted.map(({ folder, rule }) => `${folder}/planted.ts: ${rule}`)),
      );
    } finally {
      for (const { folder } of planted) rmSync(join(ROOT, folder), { recursive: true });
    }
  });

  it('and so is a cycle of folders that is none of files', () => {
    const [one, other] = [1, 2].map(() => mkdtempSync(join(ROOT, 'apps/api', 'planted-'))) as [
      string,
      string,
    ];
    const write = (folder: string, name: string, source: string): void =>
      writeFileSync(join(folder, `${name}.ts`), `${source}\n`);
    write(one, 'above', `import '../${basename(other)}/below';`);
    write(one, 'below', 'export {};');
    write(other, 'above', `import '../${basename(one)}/below';`);
    write(other, 'below', 'export {};');
    try {
      expect(brokenRules(one, other)).toContain(`apps/api/${basename(one)}: no-folder-cycles`);
    } finally {
      for (const folder of [one, other]) rmSync(folder, { recursive: true });
    }
  });
});
