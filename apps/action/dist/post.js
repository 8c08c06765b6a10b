require('./action.js').post();
