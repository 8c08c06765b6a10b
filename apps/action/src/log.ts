import * as core from '@actions/core';
import { logLine } from './log-line';

export const info = (message: string): void => core.info(logLine(message));

export const warning = (message: string): void => core.warning(logLine(message));

export const setFailed = (message: string): void => core.setFailed(logLine(message));
