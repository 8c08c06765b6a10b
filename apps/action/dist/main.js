require('./action.js').main();
