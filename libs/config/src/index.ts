export { loadSettings, SettingsError } from './load-settings';
export { toInteger, toList, toBoolean } from './transforms';
