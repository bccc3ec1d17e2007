// Runs the client once for each line that comes in, with the words of that line as its arguments, and writes its exit code.
// What the client keeps in static fields it has anew each time: a class loader of its own loads it.

package keyed;

import java.io.*;
import java.net.*;

class Host {
    public static void main(String[] none) throws Exception {
        PrintStream codes = System.out;
        System.setOut(System.err);
        URL[] classes = { Host.class.getProtectionDomain().getCodeSource().getLocation() };
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int code = 1;
            try (var loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
                var play = loader.loadClass("keyed.Keyed").getMethod("play", String[].class);
                code = (int) play.invoke(null, (Object) line.split("\t"));
            } catch (ReflectiveOperationException broken) {
                broken.printStackTrace();
            }
            codes.println(code);
        }
    }
}
