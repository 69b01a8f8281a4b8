/* What every page runs. */
import "./morph.js";
import "./times.js";
import "./toast.js";
import "./dialog.js";
import "./ask.js";
import "./keys.js";
import "./copy.js";
import "./form.js";
import "./units.js";
import "./specification.js";
import "./preview.js";
import "./focus.js";
import "./scroll.js";
import "./live.js";
import "./asked.js";
import "./bell.js";
import "./menu.js";
