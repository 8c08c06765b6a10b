import { type Command, Option } from 'commander';
import { DEPLOYMENT_ID, DEPLOYMENT_ID_MESSAGE } from '#config';
import { engineStore, withDatabase } from './deployment';
import { parsed, print, run, verb } from './program';

const { deploymentIds: store } = engineStore;

/** Shows what the installation marks its rules with, or makes another id the one. */
export function addDeploymentId(program: Command): void {
  verb(
    program,
    'deployment-id',
    'show the id that marks the rules of this installation, or adopt another one',
    ['', '--adopt production-eu'],
    `No two installations may have the same. Stop API and workers before you adopt another one, and start them afterwards,
with this DEPLOYMENT_ID or none. Rules that are open keep the old mark, and are recognised by their recorded ids.`,
  )
    .addOption(
      new Option('--adopt <id>', DEPLOYMENT_ID_MESSAGE).argParser(
        parsed(DEPLOYMENT_ID_MESSAGE, (text) => (DEPLOYMENT_ID.test(text) ? text : undefined)),
      ),
    )
    .action(
      run(({ adopt }: { adopt?: string }) =>
        withDatabase(async ({ autocommit }) => {
          if (adopt !== undefined) await store.adopt(autocommit, adopt);
          print(await store.find(autocommit));
        }),
      ),
    );
}
