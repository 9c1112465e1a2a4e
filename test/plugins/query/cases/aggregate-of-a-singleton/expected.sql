select row_to_json(r.*)::text as data from (select t2.f0 as "count" from (select count(*) as f0 from "public"."config" t1) t2) r
-- []
