export * from './api-error';
export { API_PREFIX, errorShapeOf, type ErrorShape } from './error-shape';
export { refuseSuspended } from './refuse-suspended';
export { fieldMessages, validationFailed } from './validation-errors';
