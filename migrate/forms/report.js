"use strict";
(function () {
  var byId = function (id) { return document.getElementById(id); };
  var fields = ["rule", "program", "outcome", "text"].map(byId);
  function apply() {
    var rule = fields[0].value, program = fields[1].value, outcome = fields[2].value;
    var text = fields[3].value.trim().toLowerCase();
    var filtered = rule || program || outcome || text;
    var shown = 0;
    document.querySelectorAll("details.file").forEach(function (file) {
      var path = file.dataset.path.toLowerCase();
      var here = 0;
      file.querySelectorAll("li.finding").forEach(function (item) {
        var fits = (!rule || item.dataset.rule === rule) &&
          (!program || item.dataset.program === program) &&
          (!outcome || item.dataset.outcome === outcome) &&
          (!text || path.indexOf(text) >= 0 ||
            item.textContent.toLowerCase().indexOf(text) >= 0);
        item.hidden = !fits;
        if (fits) { here += 1; }
      });
      shown += here;
      // A failed file has no findings; it hides when anything is filtered for.
      file.hidden = here === 0 && Boolean(filtered);
    });
    byId("shown").textContent = shown + " findings shown";
  }
  fields.forEach(function (field) { field.addEventListener("input", apply); });
})();
