import { spawnSync } from 'node:child_process';
import { neededInCi } from './needed-in-ci';

/** Whether the Terraform provider can be tested here. */
export const hasGo = neededInCi('go', spawnSync('go', ['version']).status === 0);
